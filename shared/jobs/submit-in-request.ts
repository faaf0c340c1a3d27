import type { BatchControl } from '../aws/batch.ts';
import type { Logger } from '../core/log.ts';
import type { Settings } from '../core/settings.ts';
import type { TableReader, TableWriter } from '../data/table/table.ts';
import { type JobRecord, jobIdOf } from './subject.ts';
import { submitJob } from './submit.ts';

interface Submitting {
  records: TableWriter<'records'>;
  batch: BatchControl;
  keys: TableReader<'accounts'>;
  settings: Settings;
  log: Logger;
}

/** Submit a recorded job as {@link submitJob} does. Never throws: the reconciler repeats it. */
export async function submitInRequest(
  record: JobRecord,
  { records, batch, keys, settings, log }: Submitting,
  isFirst: boolean,
): Promise<void> {
  try {
    await submitJob(records, batch, settings, record, isFirst, keys);
  } catch (error) {
    log.warn('submit-later', { job_id: jobIdOf(record), error: error instanceof Error ? error.name : '' });
  }
}
