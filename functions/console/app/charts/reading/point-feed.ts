import type { RowOf } from '../../../../../shared/client/route.ts';
import type { endpoint as readMetrics } from '../../../../experiments/metrics/read-metrics.endpoint.ts';

export type Point = RowOf<typeof readMetrics>;

type Taker = (points: readonly Point[], isFirst: boolean) => void;

/** New points of the experiment of a page, as they come with its state. */
export class PointFeed {
  readonly #takers = new Set<Taker>();
  /** Whether it brings every point from now on. */
  hasBegun = false;

  /** Pass on the points of an answer. Points of before the first one have to be read. */
  tell(points: readonly Point[], isFirst: boolean): void {
    this.hasBegun = true;
    for (const take of this.#takers) take(points, isFirst);
  }

  /** Call a function with the points of each answer. Return a function that ends this. */
  subscribe(take: Taker): () => void {
    this.#takers.add(take);
    return () => this.#takers.delete(take);
  }
}
