import * as z from 'zod';
import { Bytes, recordType } from '../table/record.ts';
import type { Key, TableReader, Write } from '../table/table.ts';
import { jobPartition } from './job.ts';

const jobConfig = recordType('job-config', () => z.object({ content: Bytes }));
const jobConfigKey = (experiment_id: string): Key => ({ pk: jobPartition(experiment_id), sk: 'CONFIG' });

/** Keeps the configuration's bytes with the experiment, which must run with them whatever happens to the original. */
export const putJobConfig = (experiment_id: string, bytes: Uint8Array): Write => ({
  put: jobConfig.item(jobConfigKey(experiment_id), { content: bytes }),
});

export async function readJobConfig(
  records: TableReader<'records'>,
  experiment_id: string,
): Promise<Uint8Array | undefined> {
  const item = await records.get(jobConfigKey(experiment_id));
  return item && jobConfig.parse(item).content;
}
