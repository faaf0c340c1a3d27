import type { endpoint as readMetrics } from '../../../experiments/read-metrics.endpoint.ts';
import { page } from '../api/calls.ts';
import type { Curve } from './curve.ts';

/** All curves of an experiment, read as far as they go; reading goes on where it stopped. */
export class CurveReader {
  readonly curves = new Map<string, Curve>();
  readonly #path: { project_id: string; experiment_id: string };
  readonly #names: readonly string[] | undefined;
  #next: (string | undefined)[];
  #isStarted = false;

  /** @param names the curves that are wanted; all without it */
  constructor(path: { project_id: string; experiment_id: string }, names?: readonly string[]) {
    this.#path = path;
    this.#names = names;
    this.#next = (names ?? ['']).map(() => undefined);
  }

  /** Read what is new. Returns whether there was anything. */
  async read(signal?: AbortSignal): Promise<boolean> {
    let isNew = false;
    for (const [index, name] of (this.#names ?? [undefined]).entries()) {
      while (!this.#isStarted || this.#next[index] !== undefined) {
        const { rows, next } = await page<typeof readMetrics>(
          'GET /projects/{project_id}/experiments/{experiment_id}/metrics',
          {
            path: this.#path,
            query: { limit: 10_000, ...(name !== undefined && { name: [name] }) },
            ...(signal !== undefined && { signal }),
          },
          this.#next[index],
        );
        for (const row of rows) this.#add(row);
        isNew ||= rows.length > 0;
        this.#next[index] = next;
        // While the experiment runs there is always a next page.
        if (next === undefined || rows.length === 0) break;
      }
    }
    this.#isStarted = true;
    return isNew;
  }

  #add({
    name,
    step,
    time,
    value,
  }: {
    name: string;
    step: number | null;
    time: string;
    value: number | string;
  }): void {
    let curve = this.curves.get(name);
    if (curve === undefined) {
      curve = { steps: [], times: [], values: [] };
      this.curves.set(name, curve);
    }
    curve.steps.push(step);
    curve.times.push(Date.parse(time));
    curve.values.push(Number(value));
  }
}
