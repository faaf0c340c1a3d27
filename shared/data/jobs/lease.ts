import * as z from 'zod';
import { Timestamp, Ulid } from '../../core/formats.ts';
import { recordType } from '../table/record.ts';
import type { Key, TableReader, TableWriter, Write } from '../table/table.ts';
import { tryWrite } from '../table/write-label.ts';
import { jobPartition } from './job.ts';

/** How far a job has got. Absent before its first progress. */
const Progress = z.object({
  /** Last attempt that stored a checkpoint, or a metric at a later step than any before. */
  attempt: z.number().int(),
  /** Seconds of its command up to the last checkpoint, of all attempts. What was lost with a host does not count. */
  kept_seconds: z.number(),
});
export type Progress = z.infer<typeof Progress>;

const lease = recordType('lease', () =>
  z.object({
    /** Random name of the container that holds the lease. */
    holder: z.string(),
    /** Number of this holder of the node's lease, from 1. */
    number: z.number().int(),
    batch_job_id: z.string(),
    batch_attempt: z.number().int(),
    /** Attempts of earlier submissions. Absent in the first submission. */
    former_attempts: z.number().int().optional(),
    progress: Progress.optional(),
    /** Owner of the job. Absent in leases of earlier releases. */
    user_id: Ulid.optional(),
    taken_at: Timestamp,
    heartbeat_at: Timestamp,
    /** End of the node. Absent while it runs, and if it ended without a report. */
    end: z.object({ failure: z.string().nullable() }).optional(),
    /** Epoch milliseconds until which a client counts as a reader of this node's log and metrics. */
    watched_until: z.number().int().optional(),
  }),
);
export type Lease = z.infer<typeof lease.schema>;

/** Number of heartbeats that a holder may miss. */
export const heartbeatsMissed = 6;
export const usualHeartbeatSeconds = 15;
/** A job on one node, whose heartbeat no other node watches, writes every second one only. */
export const loneBeats = 2;
/** Seconds without a heartbeat after which a holder counts as dead. */
export const leaseSeconds = heartbeatsMissed * usualHeartbeatSeconds;

export const findLease = (
  records: TableReader<'records'>,
  job_id: string,
  node: number,
): Promise<Lease | undefined> => lease.find(records, leaseKey(job_id, node));

/** Return until when a client counts as a reader of a node's log and metrics, in epoch milliseconds. */
export async function watchedUntil(
  records: TableReader<'records'>,
  job_id: string,
  node: number,
): Promise<number> {
  // Each running job asks every few seconds. A mark that is seen a moment late harms nothing.
  const item = await records.peek(leaseKey(job_id, node));
  return item === undefined ? 0 : (lease.parse(item).watched_until ?? 0);
}

/** Return the key of a node's lease, whose heartbeat every chunk of its log and metrics renews. */
export const leaseKey = (job_id: string, node: number): Key => ({
  pk: jobPartition(job_id),
  sk: `${leasePrefix}${String(node).padStart(2, '0')}`,
});

const leasePrefix = 'LEASE#';

/** Return the leases of a job's nodes, by node. */
export async function listLeases(
  records: TableReader<'records'>,
  job_id: string,
): Promise<ReadonlyMap<number, Lease>> {
  const { items } = await records.query({ pk: jobPartition(job_id), prefix: leasePrefix });
  return new Map(items.map((item) => [Number(item.sk.slice(leasePrefix.length)), lease.parse(item)]));
}

/** Build the write that takes the lease over from `previous`, or takes the first one. */
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

/** Build the write that succeeds only for the current holder. Every transaction of a job includes it. */
export const holdsLease = (job_id: string, node: number, { holder, number }: Lease): Write => ({
  check: leaseKey(job_id, node),
  if: { equals: { holder, number } },
});

/** Build the same check, and renew the heartbeat. */
export const heartbeat = (job_id: string, node: number, { holder, number }: Lease, now: Date): Write => ({
  update: leaseKey(job_id, node),
  change: { set: { heartbeat_at: now.toISOString() } },
  if: { equals: { holder, number } },
});

/** Build the write that records the progress of a node. */
export const putProgress = (
  job_id: string,
  node: number,
  { holder, number }: Lease,
  progress: Progress,
): Write => ({
  update: leaseKey(job_id, node),
  change: { set: { progress } },
  if: { equals: { holder, number } },
});

/** Build the write that records the end of a node. `failure` is null for a success. */
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

/**
 * Mark that a client reads a node's log or metrics, so the node sends them at once. Without a lease no node sends.
 */
export async function noteWatched(
  records: TableWriter<'records'>,
  job_id: string,
  node: number,
  now: Date,
): Promise<void> {
  const time = now.getTime();
  const present = await findLease(records, job_id, node);
  if (!isUnwatched(present, time)) return;
  const unmarked = {
    any: [{ absent: ['watched_until'] }, { atMost: { watched_until: time + renewMilliseconds } }],
  };
  // A failed condition means that another reader was faster or the job is gone.
  await tryWrite(
    records.write({
      update: leaseKey(job_id, node),
      change: { set: { watched_until: time + watchMilliseconds } },
      if: { exists: true, ...unmarked },
    }),
  );
}

/** Whether a lease has to be marked for a reader of this time. */
export const isUnwatched = (lease: Readonly<Record<string, unknown>> | undefined, time: number): boolean =>
  lease !== undefined && !(Number(lease['watched_until'] ?? 0) > time + renewMilliseconds);

/**
 * Renew a mark when its remaining time is below this. So any number of readers cause at most one write in ten
 * seconds.
 */
const renewMilliseconds = 20_000;

/** Milliseconds for which a read counts. A client that follows a log asks more often. */
const watchMilliseconds = 30_000;
