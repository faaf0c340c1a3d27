import * as z from 'zod';
import { Timestamp, Ulid } from '../../core/formats.ts';
import {
  readWatched,
  type WatchedList,
  type WatchedPage,
  type WatchedPosition,
} from '../lists/watched-list.ts';
import { recordType } from '../table/record.ts';
import type { Key, TableReader, TableWriter, Write } from '../table/table.ts';
import { tryWrite } from '../table/write-label.ts';

const lane = recordType('delivery-lane', () =>
  z.object({
    project_id: Ulid,
    hook_id: Ulid,
    /** Time before which nothing of it is sent. */
    next_at: Timestamp,
    /** Passes in a row that sent nothing. */
    failures: z.number().int(),
    /** Worker that sends its messages, and until when it alone may. Absent if none does. */
    claim: z.string().optional(),
    claimed_until: Timestamp.optional(),
    /** Counts messages that were added, so a worker notices them before it removes the lane. */
    version: z.number().int(),
  }),
);
/** Row of a hook that has messages to be sent. One worker at a time sends them. */
export type DeliveryLane = z.infer<typeof lane.schema>;

/** Hooks that have messages to be sent. */
export const deliveryLanes: WatchedList<'records'> = { table: 'records', partitions: ['DELIVERY_LANES'] };
export const laneKey = (hook_id: string): Key => ({ pk: deliveryLanes.partitions[0], sk: hook_id });

/**
 * Return a page of the lanes. Those of receivers that are away stay for a day, and each pass reads them: as many as one
 * request returns (1 MB).
 */
export const listLanes = (
  records: TableReader<'records'>,
  position: WatchedPosition | undefined,
): Promise<WatchedPage<DeliveryLane>> => readWatched(records, deliveryLanes, lane.parse, position, 2_000);

export const findLane = (
  records: TableReader<'records'>,
  hook_id: string,
): Promise<DeliveryLane | undefined> => lane.find(records, laneKey(hook_id));

/**
 * Build the write that adds messages to a hook's lane. It fails if the lane came or went since it was read. The lane
 * of a receiver that is away keeps its time.
 * @param isUrgent whether to send now even so
 */
export function joinLane(
  present: DeliveryLane | undefined,
  { project_id, hook_id }: Pick<DeliveryLane, 'project_id' | 'hook_id'>,
  now: Date,
  isUrgent = false,
): Write {
  const next_at = now.toISOString();
  if (present === undefined) {
    const value = { project_id, hook_id, next_at, failures: 0, version: 1 };
    return { put: lane.item(laneKey(hook_id), value), if: { exists: false } };
  }
  const set = isUrgent || present.failures === 0 ? { next_at } : {};
  return { update: laneKey(hook_id), change: { set, add: { version: 1 } }, if: { exists: true } };
}

/**
 * Claim a lane for one worker.
 * @returns the lane as claimed; undefined if another worker has it
 */
export async function claimLane(
  records: TableWriter<'records'>,
  hook_id: string,
  claim: string,
  now: Date,
): Promise<DeliveryLane | undefined> {
  const claimed_until = new Date(now.getTime() + claimSeconds * 1000).toISOString();
  const isClaimed = await tryWrite(
    records.write({
      update: laneKey(hook_id),
      change: { set: { claim, claimed_until } },
      if: {
        exists: true,
        any: [{ absent: ['claim'] }, { below: { claimed_until: now.toISOString() } }],
      },
    }),
  );
  return isClaimed ? findLane(records, hook_id) : undefined;
}

/** Seconds for which a claim holds. A worker sends for less than that, and each message has a time limit. */
export const claimSeconds = 90;

/**
 * Give a claimed lane back. It is tried again at `next_at`, or at once if messages were added since the claim. Does
 * nothing if the claim was lost.
 */
export async function releaseLane(
  records: TableWriter<'records'>,
  { hook_id, claim = '', version }: DeliveryLane,
  { next_at, failures }: Pick<DeliveryLane, 'next_at' | 'failures'>,
): Promise<void> {
  const release = (set: Partial<DeliveryLane>, condition: Readonly<Record<string, number>>): Write => ({
    update: laneKey(hook_id),
    change: { set, remove: ['claim', 'claimed_until'] },
    if: { equals: { claim, ...condition } },
  });
  if (await tryWrite(records.write(release({ next_at, failures }, { version })))) return;
  await tryWrite(records.write(release({ failures }, {})));
}

/** Remove an empty lane. Return false if messages were added, or the claim was lost. */
export const removeLane = (
  records: TableWriter<'records'>,
  { hook_id, claim = '', version }: DeliveryLane,
): Promise<boolean> =>
  tryWrite(records.write({ delete: laneKey(hook_id), if: { equals: { claim, version } } }));
