import type { SourceRun } from '../source.ts';

/** Milliseconds after the last change of its files for which a run may still go on. */
const freshMilliseconds = 5 * 60_000;

/** Whether a run whose records do not say that it ended may still go on, by the last change of its files. */
export const isFresh = (mtimeMs: number): boolean => Date.now() - mtimeMs < freshMilliseconds;

/** What a source keeps of each run that it has described. */
export class RunRecords<T> {
  readonly #records = new Map<SourceRun, T>();

  set(run: SourceRun, record: T): void {
    this.#records.set(run, record);
  }

  /** @throws Error for a run that another source has described */
  of(run: SourceRun): T {
    const record = this.#records.get(run);
    if (record === undefined) throw new Error(`The run ${run.id} is of another source.`);
    return record;
  }
}
