import * as z from 'zod';
import { Timestamp, Ulid } from '../../core/formats.ts';
import { recordType } from '../table/record.ts';
import type { Key, TableReader, TableWriter, Write } from '../table/table.ts';
import { tryWrite } from '../table/write-label.ts';
import { jobPartition } from './job.ts';

const lease = recordType('lease', () =>
  z.object({
    /** Random name of the one container that holds the lease. */
    holder: z.string(),
    /** Counts the holders of this node, from 1. */
    number: z.number().int(),
    batch_job_id: z.string(),
    batch_attempt: z.number().int(),
    /** Whose job it is; absent in leases of earlier releases. */
    user_id: Ulid.optional(),
    taken_at: Timestamp,
    heartbeat_at: Timestamp,
    /** How the node ended; absent while it runs, and where it ended without a word. */
    end: z.object({ failure: z.string().nullable() }).optional(),
    /** Epoch milliseconds until which somebody counts as reading what this node prints and measures. */
    watched_until: z.number().int().optional(),
  }),
);
export type Lease = z.infer<typeof lease.schema>;

/** Heartbeats that a holder may miss. */
export const heartbeatsMissed = 6;
export const usualHeartbeatSeconds = 15;
/** Seconds without a heartbeat after which a holder counts as dead. */
export const leaseSeconds = heartbeatsMissed * usualHeartbeatSeconds;

export async function findLease(
  records: TableReader<'records'>,
  job_id: string,
  node: number,
): Promise<Lease | undefined> {
  const item = await records.get(leaseKey(job_id, node));
  return item && lease.parse(item);
}

const leaseKey = (job_id: string, node: number): Key => ({
  pk: jobPartition(job_id),
  sk: `${leasePrefix}${String(node).padStart(2, '0')}`,
});

const leasePrefix = 'LEASE#';

/** The leases of a job's nodes, by node. */
export async function listLeases(
  records: TableReader<'records'>,
  job_id: string,
): Promise<ReadonlyMap<number, Lease>> {
  const { items } = await records.query({ pk: jobPartition(job_id), prefix: leasePrefix });
  return new Map(items.map((item) => [Number(item.sk.slice(leasePrefix.length)), lease.parse(item)]));
}

/** A write that takes the lease over from `previous`, or takes the first one. */
export const takeLease = (
  job_id: string,
  node: number,
  value: Lease,
  previous: Lease | undefined,
): Write => ({
  put: lease.item(leaseKey(job_id, node), value),
  if:
    previous === undefined
      ? { exists: false }
      : { equals: { holder: previous.holder, number: previous.number } },
});

/** A write that succeeds only for the present holder: part of every transaction by which a job writes. */
export const holdsLease = (job_id: string, node: number, { holder, number }: Lease): Write => ({
  check: leaseKey(job_id, node),
  if: { equals: { holder, number } },
});

/** The same, and says that the holder lives. */
export const heartbeat = (job_id: string, node: number, { holder, number }: Lease, now: Date): Write => ({
  update: leaseKey(job_id, node),
  change: { set: { heartbeat_at: now.toISOString() } },
  if: { equals: { holder, number } },
});

/** A write by which a holder says how its node ended; `failure` is null where it ended well. */
export const endLease = (
  job_id: string,
  node: number,
  { holder, number }: Lease,
  failure: string | null,
): Write => ({
  update: leaseKey(job_id, node),
  change: { set: { end: { failure } } },
  if: { equals: { holder, number } },
});

/** Note that somebody reads what a node prints or measures, so that it is sent at once. Without a lease nobody sends. */
export async function noteWatched(
  records: TableWriter<'records'>,
  job_id: string,
  node: number,
  now: Date,
): Promise<void> {
  const time = now.getTime();
  const present = await findLease(records, job_id, node);
  if (present === undefined || (present.watched_until ?? 0) > time + renewMilliseconds) return;
  const unmarked = {
    any: [{ absent: ['watched_until'] }, { atMost: { watched_until: time + renewMilliseconds } }],
  };
  // Another reader was faster, or the job is gone.
  await tryWrite(
    records.write({
      update: leaseKey(job_id, node),
      change: { set: { watched_until: time + watchMilliseconds } },
      if: { exists: true, ...unmarked },
    }),
  );
}

/** A mark is renewed when it has less than this left: at most one write in ten seconds, however many read. */
const renewMilliseconds = 20_000;

/** Milliseconds for which a read counts. Whoever follows asks more often than that. */
const watchMilliseconds = 30_000;
