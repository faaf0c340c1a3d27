import type { SourceRun } from '../source.ts';

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
