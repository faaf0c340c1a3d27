import { changeJob } from '../data/jobs/job.ts';
import type { TableWriter } from '../data/table/table.ts';
import { tryWrite } from '../data/table/try-write.ts';
import { type JobRecord, unfinishedJobOf } from './subject.ts';

/** Note on the record which Batch job builds its environment, unless the job has ended. */
export async function noteBuild(
  records: TableWriter<'records'>,
  record: JobRecord,
  depends_on: string,
): Promise<void> {
  await tryWrite(records.write(changeJob(unfinishedJobOf(record).subject, { set: { depends_on } })));
}
