import { changeJob } from '../data/job.ts';
import type { TableWriter } from '../data/table.ts';
import { ConditionFailedError } from '../data/write-label.ts';
import { type JobRecord, unfinishedJobOf } from './subject.ts';

/** Note on the record which Batch job builds its environment, unless the job has ended. */
export async function noteBuild(
  records: TableWriter<'records'>,
  record: JobRecord,
  depends_on: string,
): Promise<void> {
  try {
    await records.write(changeJob(unfinishedJobOf(record).subject, { set: { depends_on } }));
  } catch (error) {
    if (!(error instanceof ConditionFailedError)) throw error;
  }
}
