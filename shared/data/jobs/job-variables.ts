import * as z from 'zod';
import { Timestamp } from '../../core/formats.ts';
import { Bytes, recordType } from '../table/record.ts';
import type { Key, TableReader, Write } from '../table/table.ts';

const jobVariables = () => z.array(z.object({ name: z.string(), value: z.string(), secret: z.boolean() }));
/** Content of the copy: names, values, and whether each is a secret. */
export type JobVariables = z.infer<ReturnType<typeof jobVariables>>;

/** Parse the content of a decrypted copy. */
export const parseJobVariables = (text: string): JobVariables => jobVariables().parse(JSON.parse(text));

/** Return the encryption purpose of a job's copy. */
export const jobVariablesPurpose = (job_id: string): string => `variables of job ${job_id}`;

/** Build the write that stores a job's copy of the variables. It replaces an earlier copy. */
export const putJobVariables = (partition: string, sealed: Uint8Array, now: Date): Write => ({
  put: copy.item(copyKey(partition), { sealed, created_at: now.toISOString() }),
});

const copy = recordType('job-variables', () =>
  z.object({
    /** All variables of the project at the submission of the job, encrypted under a key of this job alone. */
    sealed: Bytes,
    created_at: Timestamp,
  }),
);

/** Return the key of the copy. `partition` is the job's own, from `jobPartition`. */
const copyKey = (partition: string): Key => ({ pk: partition, sk: 'VARIABLES' });

/** Build the write that removes the copy. Every transaction that ends a training includes it. */
export const removeJobVariables = (partition: string): Write => ({ delete: copyKey(partition) });

export const readJobVariables = async (
  records: TableReader<'records'>,
  partition: string,
): Promise<Uint8Array | undefined> => (await copy.find(records, copyKey(partition)))?.sealed;
