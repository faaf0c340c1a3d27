import * as z from 'zod';
import { Bytes, recordType } from '../table/record.ts';
import type { Key, TableReader, Write } from '../table/table.ts';
import { jobPartition } from './job.ts';

const jobConfig = recordType('job-config', () => z.object({ content: Bytes }));
const jobConfigKey = (experiment_id: string): Key => ({ pk: jobPartition(experiment_id), sk: 'CONFIG' });

/**
 * Build the write that copies the configuration's bytes to the experiment. The experiment runs with this copy,
 * even if the original changes.
 */
export const putJobConfig = (experiment_id: string, bytes: Uint8Array): Write => ({
  put: jobConfig.item(jobConfigKey(experiment_id), { content: bytes }),
});

export const readJobConfig = async (
  records: TableReader<'records'>,
  experiment_id: string,
): Promise<Uint8Array | undefined> => (await jobConfig.find(records, jobConfigKey(experiment_id)))?.content;
