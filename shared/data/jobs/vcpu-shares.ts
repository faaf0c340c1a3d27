import { createHash } from 'node:crypto';
import * as z from 'zod';
import { recordType } from '../table/record.ts';
import { readAgain, retryOnConflict, TableBusyError } from '../table/retry-on-conflict.ts';
import type { Item, Key, TableReader, TableWriter, Write } from '../table/table.ts';
import { tryWrite } from '../table/write-label.ts';

/*
 * The vCPUs that all unfinished jobs together may reserve are tokens, dealt out to shares. A job takes its tokens from
 * one share, in the transaction that begins it, and returns them in the one that ends it: jobs that begin and end at
 * the same time write different items. The tokens of all shares together are the limit, so it is never exceeded.
 * Where a job's share has too few, tokens of other shares are moved to it in the same transaction. So a job is refused
 * only where all shares together had too few when they were read, twice.
 */

/** Most shares. */
const maxShares = 16;
/** Tokens for which there is one share: enough that a job rarely needs those of another share. */
const tokensOfShare = 64;
/** The limit that shares note while more tokens are out than there may be, so that no job takes any. */
const closed = -1;

/** The record of a share. */
const share = recordType('limit-share', () =>
  z.object({
    /** Limit for which the tokens were dealt out. */
    limit: z.number().default(closed),
    /** Tokens of the share, free or with its jobs. */
    capacity: z.number().default(0),
    free: z.number(),
    /** Jobs that began and ended, by which an unchanged share is known. */
    changes: z.number().int(),
  }),
);
type Share = z.infer<typeof share.schema> & { index: number; isNew: boolean };

/** Key of the vCPUs that jobs of releases without shares have reserved; the number only falls. */
export const formerLimitKey: Key = { pk: 'LIMITS', sk: 'DEPLOYMENT' };
/** Key of a share. */
export const shareKey = (index: number): Key => ({ pk: `LIMITS#${index}`, sk: 'VCPUS' });
/** Whether an item is a share of the limit. */
export const isShare = ({ record_type }: Item): boolean => record_type === share.kind;
/** The number of the share that an item is. */
export const shareIndex = ({ pk }: Key): number => Number(pk.split('#')[1]);
/** Key patterns of all limits, for the policy of a role. */
export const limitPatterns = ['LIMITS', 'LIMITS#*'] as const;

/** A job as far as it counts against the limit. `limit_share` is null for jobs of earlier releases. */
interface Reservation {
  job_id: string;
  vcpus: number;
  limit_share: number | null;
}

/** How many shares a limit is dealt out to. */
const sharesOf = (limit: number): number =>
  Math.max(1, Math.min(maxShares, Math.floor(limit / tokensOfShare)));

/** Return the share from which a new job takes its vCPUs. */
export function limitShare(job_id: string, limit: number): number {
  return createHash('sha256').update(job_id).digest().readUInt32BE(0) % sharesOf(limit);
}

/** The write by which a job takes its vCPUs, refused where its share has too few, or was dealt out for another limit. */
export const reserveVcpus = ({ vcpus, limit_share }: Reservation, limit: number): Write => ({
  update: shareKey(limit_share ?? 0),
  change: { add: { free: -vcpus, changes: 1 } },
  if: { equals: { limit }, atLeast: { free: vcpus } },
});

/** The write by which a job that ends returns its vCPUs. */
export const releaseVcpus = ({ vcpus, limit_share }: Reservation): Write =>
  limit_share === null
    ? { update: formerLimitKey, change: { add: { vcpus: -vcpus } } }
    : {
        update: shareKey(limit_share),
        change: {
          add: { free: vcpus, changes: 1 },
          // Should somebody have deleted the share, it comes back as one.
          set: { record_type: share.kind, schema_version: 0 },
        },
      };

/** All shares, as they were read. */
interface Dealt {
  shares: Share[];
  /** vCPUs of jobs of earlier releases; undefined if there never was such a job. */
  former: number | undefined;
}

/** Rounds vCPUs to millionths. Differences that binary fractions leave near 0 become 0. */
const rounded = (vcpus: number): number => Math.round(vcpus * 1e6) / 1e6;
const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

function shareOf(item: Item | undefined, index: number): Share {
  const fresh = { limit: closed, capacity: 0, free: 0, changes: 0 };
  return { ...(item === undefined ? fresh : share.parse(item)), index, isNew: item === undefined };
}

/** Read all shares. */
async function readDealt(records: TableReader<'records'>): Promise<Dealt> {
  const keys = Array.from({ length: maxShares }, (_, index) => shareKey(index));
  const [former, ...items] = await records.batchGet([formerLimitKey, ...keys]);
  const vcpus = former?.['vcpus'];
  return { shares: items.map(shareOf), former: typeof vcpus === 'number' ? vcpus : undefined };
}

/** @throws TableBusyError for shares that others changed during every attempt */
export function refuseBusyShares(cause: unknown): never {
  throw new TableBusyError('the shares of the vCPU limit changed during every attempt', { cause });
}

/**
 * The writes by which a job takes its vCPUs from its own share and others; undefined where all together have too few.
 * @throws TableBusyError when others change the shares during every attempt
 */
export async function gatherVcpus(
  records: TableWriter<'records'>,
  job: Reservation,
  limit: number,
): Promise<Write[] | undefined> {
  let wasShort = false;
  const read = async () => {
    const dealt = await readDealt(records);
    const dealing = dealWrites(dealt, limit);
    if (dealing.length > 0) {
      await records.write(...dealing);
      return readAgain;
    }
    const taking = gatherWrites(dealt, job, limit);
    // The shares are read one after the other: tokens on their way from one to another may have been missed.
    if (taking !== undefined || wasShort) return taking;
    wasShort = true;
    return readAgain;
  };
  return retryOnConflict(read, { giveUp: refuseBusyShares });
}

const byFree = (one: Share, other: Share): number => other.free - one.free;

/** Deal out `more` tokens, or take back as many as are free where that is negative. Return what could not be taken. */
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
 * The writes that make the tokens those of the limit, less what jobs of earlier releases hold. Tokens that are with
 * jobs are taken back as these end; until then no job begins. Nothing where all is right.
 */
function dealWrites({ shares, former }: Dealt, limit: number): Write[] {
  const count = sharesOf(limit);
  const more = rounded(limit - (former ?? 0) - sum(shares.map(({ capacity }) => capacity)));
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
  if (changes.every((write) => 'check' in write)) return [];
  const fromFormer = former === undefined ? { absent: ['vcpus'] } : { equals: { vcpus: former } };
  return [...changes, { check: formerLimitKey, if: fromFormer }];
}

/** The writes by which a job takes its vCPUs where its own share has too few; undefined where all together have. */
function gatherWrites({ shares }: Dealt, job: Reservation, limit: number): Write[] | undefined {
  const home = shares[job.limit_share ?? 0];
  if (home === undefined || sum(shares.map(({ free }) => Math.max(0, free))) < job.vcpus) return undefined;
  const moves: Write[] = [];
  let moved = 0;
  for (const { index, free } of shares.filter((one) => one !== home).sort(byFree)) {
    const missing = job.vcpus - home.free - moved;
    if (missing <= 0 || free <= 0) break;
    // Half of what the richest has, so that the next job finds some in its own share.
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

/** The shares as they were before all unfinished jobs were read, and what these hold. */
interface VcpuAudit {
  add(job: Reservation): void;
  /** Correct the shares of which no job has begun or ended since, where they say otherwise than their jobs. */
  correct(): Promise<void>;
}

/** Begin to compare the shares with the unfinished jobs that are read from now on. */
export async function auditVcpus(records: TableWriter<'records'>): Promise<VcpuAudit> {
  const before = await readDealt(records);
  const held = new Map<number | null, number>();
  const correctShare = async ({ index, isNew, capacity, free, changes }: Share): Promise<void> => {
    const was = before.shares[index];
    const drift = rounded(capacity - free - (held.get(index) ?? 0));
    if (isNew || was?.isNew !== false || was.changes !== changes || drift === 0) return;
    const change = { add: { free: drift, changes: 1 } };
    await tryWrite(records.write({ update: shareKey(index), change, if: { equals: { changes, free } } }));
  };
  return {
    add: ({ vcpus, limit_share }) => void held.set(limit_share, (held.get(limit_share) ?? 0) + vcpus),
    async correct() {
      const { shares, former } = await readDealt(records);
      for (const one of shares) await correctShare(one);
      if (held.has(null) || former === undefined || former === 0 || former !== before.former) return;
      const write: Write = {
        update: formerLimitKey,
        change: { set: { vcpus: 0 } },
        if: { equals: { vcpus: former } },
      };
      await tryWrite(records.write(write));
    },
  };
}
