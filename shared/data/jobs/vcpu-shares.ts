import { createHash } from 'node:crypto';
import * as z from 'zod';
import { withoutAudit } from '../table/audited-writer.ts';
import { recordType } from '../table/record.ts';
import { readAgain, retryOnConflict, TableBusyError } from '../table/retry-on-conflict.ts';
import type { Item, Key, TableReader, TableWriter, Write } from '../table/table.ts';
import { tryWrite } from '../table/write-label.ts';

/*
 * The vCPU limit of all unfinished jobs is split into tokens, which belong to shares. The transaction that begins
 * a job takes its tokens from one share, and the transaction that ends it returns them. So jobs that begin and end
 * at the same time write different items. The total of all shares is the limit, so jobs never exceed it. If a
 * job's share has too few tokens, the same transaction moves tokens of other shares to it. So a job is refused
 * only if two reads found too few tokens in all shares together.
 */

/** Maximum number of shares. */
const maxShares = 16;
/** Tokens per share. With this many, a job rarely needs tokens of another share. */
const tokensOfShare = 64;
/** Limit that shares record while jobs hold more tokens than the limit allows. Then no job can take tokens. */
const closed = -1;

const share = recordType('limit-share', () =>
  z.object({
    /** Limit that the tokens were allocated for. */
    limit: z.number().default(closed),
    /** Tokens of the share, both free and held by its jobs. */
    capacity: z.number().default(0),
    free: z.number(),
    /** Number of jobs that began or ended. Writes use it to detect changes. */
    changes: z.number().int(),
  }),
);
type Share = z.infer<typeof share.schema> & { index: number; isNew: boolean };

export const shareKey = (index: number): Key => ({ pk: `LIMITS#${index}`, sk: 'VCPUS' });
/** Whether an item is a share of the limit. */
export const isShare = ({ record_type }: Item): boolean => record_type === share.kind;
/** Return the index of the share that an item stores. */
export const shareIndex = ({ pk }: Key): number => Number(pk.split('#')[1]);
/** Key patterns of all limits, for the policy of a role. */
export const limitPatterns = ['LIMITS', 'LIMITS#*'] as const;

/** Fields of a job that count against the limit. `limit_share` is null for a run without a job of the service. */
interface Reservation {
  vcpus: number;
  limit_share: number | null;
}

/** Return the number of shares of a limit. */
const sharesOf = (limit: number): number =>
  Math.max(1, Math.min(maxShares, Math.floor(limit / tokensOfShare)));

/** Return the index of the share that a new job takes its vCPUs from. */
export function limitShare(job_id: string, limit: number): number {
  return createHash('sha256').update(job_id).digest().readUInt32BE(0) % sharesOf(limit);
}

/**
 * Build the write that takes a job's vCPUs. It fails if the share has too few tokens or was allocated for another
 * limit.
 */
export const reserveVcpus = ({ vcpus, limit_share }: Reservation, limit: number): Write => ({
  update: shareKey(limit_share ?? 0),
  change: { add: { free: -vcpus, changes: 1 } },
  if: { equals: { limit }, atLeast: { free: vcpus } },
});

/** Build the write that returns the vCPUs of a job that ends. */
export const releaseVcpus = ({ vcpus, limit_share }: Reservation): Write => ({
  update: shareKey(limit_share ?? 0),
  change: {
    add: { free: vcpus, changes: 1 },
    // If the share was deleted by hand, this write recreates it as a share.
    set: { record_type: share.kind, schema_version: 0 },
  },
});

/** Round vCPUs to millionths. This removes rounding errors of binary fractions near 0. */
const rounded = (vcpus: number): number => Math.round(vcpus * 1e6) / 1e6;
const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

function shareOf(item: Item | undefined, index: number): Share {
  const fresh = { limit: closed, capacity: 0, free: 0, changes: 0 };
  return { ...(item === undefined ? fresh : share.parse(item)), index, isNew: item === undefined };
}

async function readShares(records: TableReader<'records'>): Promise<Share[]> {
  const keys = Array.from({ length: maxShares }, (_, index) => shareKey(index));
  return (await records.batchGet(keys)).map(shareOf);
}

/** @throws TableBusyError always, because other jobs changed the shares during every attempt */
export function refuseBusyShares(cause: unknown): never {
  throw new TableBusyError('the shares of the vCPU limit changed during every attempt', { cause });
}

/**
 * Build the writes that take a job's vCPUs from its own share and others. Return undefined if all shares together
 * have too few.
 * @throws TableBusyError if other jobs change the shares during every attempt
 */
export async function gatherVcpus(
  records: TableWriter<'records'>,
  job: Reservation,
  limit: number,
): Promise<Write[] | undefined> {
  let wasShort = false;
  const read = async () => {
    const shares = await readShares(records);
    const dealing = dealWrites(shares, limit);
    if (dealing.length > 0) {
      await withoutAudit(records).write(...dealing);
      return readAgain;
    }
    const taking = gatherWrites(shares, job, limit);
    // The read of the shares is not atomic, so it may miss tokens that move between shares.
    if (taking !== undefined || wasShort) return taking;
    wasShort = true;
    return readAgain;
  };
  return retryOnConflict(read, { giveUp: refuseBusyShares });
}

const byFree = (one: Share, other: Share): number => other.free - one.free;

/**
 * Allocate `more` tokens to the shares. If it is negative, take back free tokens. Return the tokens that remain to
 * be taken, as a number of at most 0.
 */
function deal(shares: readonly Share[], more: number, count: number): number {
  let left = more;
  if (more > 0) {
    const each = Math.floor(more / count);
    for (const one of shares.slice(0, count)) {
      const tokens = one.index === 0 ? more - each * (count - 1) : each;
      one.capacity += tokens;
      one.free += tokens;
      left -= tokens;
    }
    return left;
  }
  for (const one of [...shares].sort(byFree)) {
    const tokens = Math.min(Math.max(0, one.free), -left);
    one.capacity -= tokens;
    one.free -= tokens;
    left += tokens;
  }
  return left;
}

/**
 * Build the writes that adjust the total of tokens to the limit. The service takes back tokens of running jobs when
 * these end; until then no job begins. Return no writes if the total is right.
 */
function dealWrites(shares: readonly Share[], limit: number): Write[] {
  const count = sharesOf(limit);
  const more = rounded(limit - sum(shares.map(({ capacity }) => capacity)));
  const dealt = shares.map((one) => ({ ...one }));
  const owed = deal(dealt, more, count);
  const noted = owed < 0 ? closed : limit;
  const writes = dealt.map((one, index): Write | undefined => {
    const before = shares[index] ?? one;
    const key = shareKey(index);
    if (one.isNew && index >= count) return undefined;
    const { capacity, free } = one;
    if (one.isNew) {
      const value = { limit: noted, capacity, free, changes: 0 };
      return { put: share.item(key, value), if: { exists: false } };
    }
    const unmoved =
      before.capacity === 0
        ? { any: [{ absent: ['capacity'] }, { equals: { capacity: 0 } }] }
        : { equals: { capacity: before.capacity } };
    if (capacity === before.capacity && before.limit === noted) return { check: key, if: unmoved };
    const tokens = capacity - before.capacity;
    return {
      update: key,
      change: { set: { limit: noted }, add: { capacity: tokens, free: tokens } },
      if: tokens < 0 ? { ...unmoved, atLeast: { free: -tokens } } : unmoved,
    };
  });
  const changes = writes.filter((write) => write !== undefined);
  return changes.every((write) => 'check' in write) ? [] : changes;
}

/**
 * Build the writes that take a job's vCPUs if its own share has too few. Return undefined if all shares together
 * have too few.
 */
function gatherWrites(shares: readonly Share[], job: Reservation, limit: number): Write[] | undefined {
  const home = shares[job.limit_share ?? 0];
  if (home === undefined || sum(shares.map(({ free }) => Math.max(0, free))) < job.vcpus) return undefined;
  const moves: Write[] = [];
  let moved = 0;
  for (const { index, free } of shares.filter((one) => one !== home).sort(byFree)) {
    const missing = job.vcpus - home.free - moved;
    if (missing <= 0 || free <= 0) break;
    // Take up to half of the richest share, so the next job finds tokens in its own share.
    const tokens = Math.min(free, Math.max(missing, Math.floor(free / 2)));
    moved += tokens;
    moves.push({
      update: shareKey(index),
      change: { add: { free: -tokens, capacity: -tokens, changes: 1 } },
      if: { equals: { limit }, atLeast: { free: tokens } },
    });
  }
  if (home.free + moved < job.vcpus) return undefined;
  const take: Write = {
    update: shareKey(home.index),
    change: { add: { free: moved - job.vcpus, capacity: moved, changes: 1 } },
    if: { equals: { limit }, atLeast: { free: job.vcpus - moved } },
  };
  return [take, ...moves];
}

/** Audit of the shares: their state before the read of all unfinished jobs, and the vCPUs of these jobs. */
interface VcpuAudit {
  add(job: Reservation): void;
  /** Correct each share that differs from its jobs, if none of its jobs has begun or ended since. */
  correct(): Promise<void>;
}

/** Begin an audit of the shares. The caller then adds every unfinished job that it reads. */
export async function auditVcpus(records: TableWriter<'records'>): Promise<VcpuAudit> {
  const before = await readShares(records);
  const held = new Map<number | null, number>();
  const correctShare = async ({ index, isNew, capacity, free, changes }: Share): Promise<void> => {
    const was = before[index];
    const drift = rounded(capacity - free - (held.get(index) ?? 0));
    if (isNew || was?.isNew !== false || was.changes !== changes || drift === 0) return;
    const change = { add: { free: drift, changes: 1 } };
    await tryWrite(records.write({ update: shareKey(index), change, if: { equals: { changes, free } } }));
  };
  return {
    add: ({ vcpus, limit_share }) => void held.set(limit_share, (held.get(limit_share) ?? 0) + vcpus),
    async correct() {
      for (const one of await readShares(records)) await correctShare(one);
    },
  };
}
