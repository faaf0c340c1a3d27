import type { Best, Experiment } from '../../data/experiment.ts';
import type { MetricPoint } from '../../data/job-metrics.ts';
import { isTableNumber } from '../../data/stored-number.ts';

/** Keeps the best value that a job reports for its criterion, of those that its record can hold. */
export class BestValue {
  readonly #criterion: Experiment['criterion'];
  #best: Best | null;

  constructor({ criterion, best }: Experiment) {
    this.#criterion = criterion;
    this.#best = best;
  }

  get value(): Best | null {
    return this.#best;
  }

  /** Take in points. Return whether one of them is the best so far. */
  take(points: readonly MetricPoint[]): boolean {
    const { name, goal } = this.#criterion;
    const before = this.#best;
    for (const point of points) {
      if (point.name !== name || !isTableNumber(point.value)) continue;
      const isBetter =
        this.#best === null ||
        (goal === 'maximize' ? point.value > this.#best.value : point.value < this.#best.value);
      const step = point.step !== null && isTableNumber(point.step) ? point.step : null;
      if (isBetter) this.#best = { criterion: name, value: point.value, step };
    }
    return this.#best !== before;
  }
}
