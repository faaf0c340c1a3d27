import * as z from 'zod';
import { Timestamp } from '../../core/formats.ts';
import { newId } from '../../core/new-id.ts';
import { recordType } from '../table/record.ts';
import type { Key, TableReader, TableWriter } from '../table/table.ts';
import { tryWrite } from '../table/write-label.ts';

const passLease = recordType('pass-lease', () =>
  z.object({
    /** Name of the process that runs the pass. Empty if none does. */
    holder: z.string(),
    /** Time at which a killed pass counts as dead. */
    held_until: Timestamp,
    /** End of the first of the passes in a row that failed. Null if the last one succeeded. */
    failing_since: Timestamp.nullable(),
  }),
);
/** Right to run the pass of a task. One process has it at a time. It goes with the pass, unless that failed. */
export type PassLease = z.infer<typeof passLease.schema>;

const passKey = (task: string): Key => ({ pk: 'PASSES', sk: task });

/** Return who runs the pass of a task, or since when its passes fail. */
export const findPass = (records: TableReader<'records'>, task: string): Promise<PassLease | undefined> =>
  passLease.find(records, passKey(task));

/**
 * Take the lease for a pass.
 * @param seconds after which the pass is certainly over
 * @returns undefined if another process runs one
 */
export async function takePass(
  records: TableWriter<'records'>,
  task: string,
  seconds: number,
  now: Date,
): Promise<PassLease | undefined> {
  const failing_since = (await findPass(records, task))?.failing_since ?? null;
  const held_until = new Date(now.getTime() + seconds * 1000).toISOString();
  const lease = { holder: newId(now.getTime()), held_until, failing_since };
  const isFree = { any: [{ absent: ['holder'] }, { below: { held_until: now.toISOString() } }] };
  const isTaken = await tryWrite(records.write({ put: passLease.item(passKey(task), lease), if: isFree }));
  return isTaken ? lease : undefined;
}

/** Give a lease back. Does nothing if it was lost. @param failing_since null after a success */
export async function endPass(
  records: TableWriter<'records'>,
  task: string,
  { holder }: PassLease,
  failing_since: string | null,
  now: Date,
): Promise<void> {
  const held = { equals: { holder } };
  const value = { holder: '', held_until: new Date(now.getTime() - 1).toISOString(), failing_since };
  await tryWrite(
    records.write(
      failing_since === null
        ? { delete: passKey(task), if: held }
        : { put: passLease.item(passKey(task), value), if: held },
    ),
  );
}
