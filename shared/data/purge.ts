import * as z from 'zod';
import { Timestamp, Ulid } from '../endpoint/parameters.ts';
import { recordType } from './record.ts';
import type { Key, TableReader, TableWriter, Write } from './table.ts';
import { readWatched, type WatchedList, type WatchedPage, type WatchedPosition } from './watched-list.ts';

const targetSchema = () =>
  z.object({
    /** Partitions of the records table, or the part of one whose sort keys start with `prefix`. */
    partitions: z.array(z.object({ pk: z.string(), prefix: z.string().optional() })),
    /** Key prefixes of the bucket. */
    prefixes: z.array(z.string()),
    /** Of a job that has ended: the objects under the prefix that none of the job's files is. */
    leftovers: z.object({ job_id: Ulid, prefix: z.string() }).optional(),
    /** Project of such a job: the packed environments that none of the project's is. */
    packs_of: Ulid.optional(),
  });
export type PurgeTarget = z.infer<ReturnType<typeof targetSchema>>;

const purge = recordType('purge', () =>
  z.object({
    purge_id: Ulid,
    created_at: Timestamp,
    target: targetSchema(),
    /** When all has been removed but something may come back until then, and is to be looked at again; else null. */
    again_at: Timestamp.nullable(),
    /** Of a whole project: its experiments and their jobs go too. */
    project_id: Ulid.optional(),
  }),
);

/**
 * A delete that has been answered and whose remains are still to be removed. It is written in the same transaction
 * as the delete itself and removed last of all, so a crash anywhere only makes the removal begin again.
 */
export type Purge = z.infer<typeof purge.schema>;

/** The list of purges that are not finished. */
export const unfinishedPurges: WatchedList<'records'> = { table: 'records', partitions: ['PURGES'] };
export const purgeKey = (purge_id: string): Key => ({ pk: unfinishedPurges.partitions[0], sk: purge_id });

export const parsePurge = purge.parse;

export const recordPurge = (value: Purge): Write => ({ put: purge.item(purgeKey(value.purge_id), value) });

/** Purges that are not finished, oldest first. */
export const listPurges = (
  records: TableReader<'records'>,
  position: WatchedPosition | undefined,
): Promise<WatchedPage<Purge>> => readWatched(records, unfinishedPurges, purge.parse, position, 25);

/** Notes that nothing is left for now, and when to look again. */
export async function postponePurge(
  records: TableWriter<'records'>,
  purge_id: string,
  again_at: string,
): Promise<void> {
  await records.write({ update: purgeKey(purge_id), change: { set: { again_at } }, if: { exists: true } });
}

export async function finishPurge(records: TableWriter<'records'>, purge_id: string): Promise<void> {
  await records.write({ delete: purgeKey(purge_id) });
}
