import { changeJob } from '../data/job.ts';
import { ConditionFailed, type TableWriter } from '../data/table.ts';
import { type JobRecord, unfinishedJobOf } from './subject.ts';

/** Notes which Batch job builds a record's environment, unless the record has ended. */
export async function noteBuild(
  records: TableWriter<'records'>,
  record: JobRecord,
  depends_on: string,
): Promise<void> {
  try {
    await records.write(changeJob(unfinishedJobOf(record).subject, { set: { depends_on } }));
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
  }
}
