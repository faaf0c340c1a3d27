import type { AnswerOf } from '../../../../../shared/client/route.ts';
import type { endpoint as listLive } from '../../../../experiments/live/list-live-experiments.endpoint.ts';
import { call } from '../../api/calls.ts';
import { follow } from '../../api/follow.ts';
import type { Drawable } from './drawable.ts';

export type LivePoint = AnswerOf<typeof listLive>['points'][number];

/** Experiments that one request asks for. */
const maxFollowed = 50;

interface Follow {
  ids: ReadonlySet<string>;
  /** Whether it brings every point from now on. */
  hasBegun: boolean;
  end(): void;
}

/**
 * New points of running experiments of a project: one request at a time for up to 50 of them, for which the service waits.
 * Experiments that begin later are followed by a request of their own.
 */
export class LivePoints {
  readonly #take: (points: readonly LivePoint[], ids: ReadonlySet<string>, isFirst: boolean) => void;
  #follows: Follow[] = [];

  /** @param take called with the points of each answer, and the experiments that it is about; points of before the first answer have to be read */
  constructor(take: (points: readonly LivePoint[], ids: ReadonlySet<string>, isFirst: boolean) => void) {
    this.#take = take;
  }

  /** Follow these experiments from now on, and none that have ended. */
  follow(runs: readonly Drawable[]): void {
    const live = new Map(runs.filter(({ isLive }) => isLive).map((run) => [run.experiment_id, run]));
    this.#follows = this.#follows.filter(({ ids, end }) => {
      const isUsed = [...ids].some((id) => live.has(id));
      if (!isUsed) end();
      return isUsed;
    });
    const others = [...live.values()].filter(
      ({ experiment_id }) => !this.#follows.some(({ ids }) => ids.has(experiment_id)),
    );
    for (const some of Map.groupBy(others, ({ project_id }) => project_id).values())
      for (let from = 0; from < some.length; from += maxFollowed)
        this.#follows.push(this.#begin(some.slice(from, from + maxFollowed)));
  }

  hasBegun(id: string): boolean {
    return this.#follows.some(({ ids, hasBegun }) => hasBegun && ids.has(id));
  }

  end(): void {
    for (const { end } of this.#follows) end();
    this.#follows = [];
  }

  #begin(runs: readonly Drawable[]): Follow {
    const ids = runs.map(({ experiment_id }) => experiment_id);
    const project_id = runs[0]?.project_id ?? '';
    const begun: Follow = { ids: new Set(ids), hasBegun: false, end: () => undefined };
    begun.end = follow({
      ask: (after, signal) =>
        call<typeof listLive>('GET /projects/{project_id}/experiments/live', {
          path: { project_id },
          query: { points: ids.join(), ...(after !== undefined && { after }) },
          signal,
        }),
      take: ({ points }, isFirst) => {
        begun.hasBegun = true;
        this.#take(points, begun.ids, isFirst);
      },
      // The rows of the page say what is wrong.
      fail: () => undefined,
    });
    return begun;
  }
}
