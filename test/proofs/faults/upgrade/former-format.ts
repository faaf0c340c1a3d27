import { jobPartition } from '../../../../shared/data/jobs/job.ts';
import type { TableWriter } from '../../../../shared/data/table/table.ts';
import { type JobRecord, jobIdOf, unfinishedJobOf } from '../../../../shared/jobs/job-record.ts';

/** Fields that records of a job have since the release before, which did not write them. */
const newFields = {
  lease: ['user_id', 'watched_until'],
  record: ['cancelled_by', 'limits', 'line_ticket', 'begun_at'],
};

/** Makes the records of a job that runs what the release before would have written. */
export async function withoutNewFields(records: TableWriter<'records'>, record: JobRecord): Promise<void> {
  const lease = { pk: jobPartition(jobIdOf(record)), sk: 'LEASE#00' };
  if ((await records.get(lease)) !== undefined)
    await records.write({ update: lease, change: { remove: newFields.lease } });
  await records.write({ update: unfinishedJobOf(record).subject, change: { remove: newFields.record } });
}
