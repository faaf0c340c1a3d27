import { createHash } from 'node:crypto';
import * as z from 'zod';
import { recordType } from '../table/record.ts';
import type { Item, Key, TableReader, Write } from '../table/table.ts';

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
export const closed = -1;

/** The record of a share. */
export const share = recordType('limit-share', () =>
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
export type Share = z.infer<typeof share.schema> & { index: number; isNew: boolean };

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
export interface Reservation {
  job_id: string;
  vcpus: number;
  limit_share: number | null;
}

/** How many shares a limit is dealt out to. */
export const sharesOf = (limit: number): number =>
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
export interface Dealt {
  shares: Share[];
  /** vCPUs of jobs of earlier releases; undefined where there never was one. */
  former: number | undefined;
}

/** vCPUs to millionths, so that differences of binary fractions become 0. */
export const rounded = (vcpus: number): number => Math.round(vcpus * 1e6) / 1e6;
export const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

function shareOf(item: Item | undefined, index: number): Share {
  const fresh = { limit: closed, capacity: 0, free: 0, changes: 0 };
  return { ...(item === undefined ? fresh : share.parse(item)), index, isNew: item === undefined };
}

/** Read all shares. */
export async function readDealt(records: TableReader<'records'>): Promise<Dealt> {
  const keys = Array.from({ length: maxShares }, (_, index) => shareKey(index));
  const [former, ...items] = await records.batchGet([formerLimitKey, ...keys]);
  const vcpus = former?.['vcpus'];
  return { shares: items.map(shareOf), former: typeof vcpus === 'number' ? vcpus : undefined };
}
