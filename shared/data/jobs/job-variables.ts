import * as z from 'zod';
import { Timestamp } from '../../core/formats.ts';
import { Bytes, recordType } from '../table/record.ts';
import type { Key, TableReader, Write } from '../table/table.ts';

const jobVariables = () => z.array(z.object({ name: z.string(), value: z.string(), secret: z.boolean() }));
/** What the copy holds: names and values, and which of them are secrets. */
export type JobVariables = z.infer<ReturnType<typeof jobVariables>>;

/** The content of a copy that was opened. */
export const parseJobVariables = (text: string): JobVariables => jobVariables().parse(JSON.parse(text));

/** What the copy of a job is encrypted for. */
export const jobVariablesPurpose = (job_id: string): string => `variables of job ${job_id}`;

/** The write that gives a job its copy of the variables, in the place of an earlier one. */
export const putJobVariables = (partition: string, sealed: Uint8Array, now: Date): Write => ({
  put: copy.item(copyKey(partition), { sealed, created_at: now.toISOString() }),
});

const copy = recordType('job-variables', () =>
  z.object({
    /** All variables of the project as they were when the job was submitted, under a key of this job alone. */
    sealed: Bytes,
    created_at: Timestamp,
  }),
);

/** Of a job's own partition, as `jobPartition` makes it. */
const copyKey = (partition: string): Key => ({ pk: partition, sk: 'VARIABLES' });

/** The write that takes it away. It is part of every transaction that ends a training. */
export const removeJobVariables = (partition: string): Write => ({ delete: copyKey(partition) });

export async function readJobVariables(
  records: TableReader<'records'>,
  partition: string,
): Promise<Uint8Array | undefined> {
  const item = await records.get(copyKey(partition));
  return item && copy.parse(item).sealed;
}
