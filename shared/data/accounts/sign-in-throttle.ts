import { createHash } from 'node:crypto';
import * as z from 'zod';
import { withoutAudit } from '../table/audited-writer.ts';
import { recordType } from '../table/record.ts';
import { retryOnConflict } from '../table/retry-on-conflict.ts';
import type { Key, TableReader, TableWriter, Write } from '../table/table.ts';
import { ConditionFailedError, WriteLabel } from '../table/write-label.ts';

const attempts = recordType('sign-in-attempts', () =>
  z.object({
    /** Number of attempts that failed or have not ended yet. */
    count: z.number().int(),
    /** Epoch milliseconds before which attempts are refused. 0 if the next attempt need not wait. */
    open_at: z.number().int(),
    /** Epoch seconds after which the count expires. */
    ttl: z.number().int(),
    version: z.number().int(),
  }),
);
export type SignInAttempts = Pick<z.infer<typeof attempts.schema>, 'count' | 'open_at' | 'ttl'>;

/** Key of a count of attempts: an address, a user name, or both. `act` names an action other than sign-in. */
export interface AttemptSource {
  address?: string;
  username?: string;
  act?: 'register';
}

/** Change of a count: replace it, or raise it by one if it is below a limit. */
export type AttemptsChange = { replace: SignInAttempts } | { raise: SignInAttempts; below: number };

/**
 * Change the counts of all sources in one transaction, as `next` decides. `next` receives undefined for a source
 * without a count. Changes that only raise counts do not conflict, even if many users share an address. Return
 * false if `next` returned undefined, or other requests changed the counts during every attempt.
 */
export async function changeAttempts(
  accounts: TableWriter<'accounts'>,
  sources: readonly AttemptSource[],
  next: (present: readonly (SignInAttempts | undefined)[]) => readonly AttemptsChange[] | undefined,
): Promise<boolean> {
  const keys = sources.map(attemptsKey);
  const count = async (): Promise<boolean> => {
    const items = await accounts.batchGet(keys);
    const present = items.map((item) => item && attempts.parse(item));
    const changes = next(present);
    if (changes === undefined) return false;
    const writes = keys.flatMap((key, index) => {
      const change = changes[index];
      return change === undefined ? [] : [countWrite(key, present[index], change)];
    });
    await withoutAudit(accounts).write(...writes);
    return true;
  };
  return retryOnConflict(count, { giveUp: () => false });
}

const attemptsKey = (source: AttemptSource): Key => ({ pk: attemptsPartition(source), sk: 'ATTEMPTS' });

/**
 * Return the partition of a source. It is hashed, so addresses and mistyped names (which may be passwords) are not
 * readable.
 */
function attemptsPartition({ address, username, act }: AttemptSource): string {
  const parts = [address, username, ...(act === undefined ? [] : [act])];
  return `SIGN-IN#${createHash('sha256').update(JSON.stringify(parts)).digest('hex')}`;
}

function countWrite(
  key: Key,
  was: z.infer<typeof attempts.schema> | undefined,
  change: AttemptsChange,
): Write {
  if ('raise' in change && was !== undefined) {
    const { open_at, ttl } = change.raise;
    return {
      update: key,
      change: { add: { count: 1, version: 1 }, set: { open_at, ttl } },
      if: { below: { count: change.below } },
    };
  }
  const next = 'raise' in change ? change.raise : change.replace;
  const unchanged = was === undefined ? { exists: false } : { equals: { version: was.version } };
  return { put: attempts.item(key, { ...next, version: (was?.version ?? 0) + 1 }), if: unchanged };
}

/**
 * Delete the count of `forgotten`, and subtract one from each count of `lowered`, whose next attempt need not
 * wait. `also` are further writes of the same transaction.
 */
export async function forgiveAttempts(
  accounts: TableWriter<'accounts'>,
  {
    forgotten,
    lowered,
    also,
  }: { forgotten: AttemptSource; lowered: readonly AttemptSource[]; also: readonly Write[] },
): Promise<void> {
  const always: Write[] = [{ delete: attemptsKey(forgotten) }, ...also];
  let lower = lowered.map((source, index) => {
    const label = new WriteLabel(`lowered count ${index}`);
    const write = label.on({
      update: attemptsKey(source),
      change: { add: { count: -1, version: 1 }, set: { open_at: 0 } },
      if: { above: { count: 0 } },
    });
    return { label, write };
  });
  // A missing count needs no change. Each retry has at least one write fewer.
  for (;;) {
    try {
      await withoutAudit(accounts).write(...always, ...lower.map(({ write }) => write));
      return;
    } catch (error) {
      if (!(error instanceof ConditionFailedError)) throw error;
      lower = lower.filter(({ label }) => !label.failedIn(error));
    }
  }
}

/** Whether this user signed in from this address within the last 90 days. */
export async function isKnown(
  accounts: TableReader<'accounts'>,
  pair: AttemptSource,
  now: Date,
): Promise<boolean> {
  const mark = await findKnown(accounts, pair);
  return mark !== undefined && mark.ttl * 1000 > now.getTime();
}

async function findKnown(
  accounts: TableReader<'accounts'>,
  pair: AttemptSource,
): Promise<{ ttl: number } | undefined> {
  const item = await accounts.get(knownKey(pair));
  return item && known.parse(item);
}

const knownKey = (pair: AttemptSource): Key => ({ pk: attemptsPartition(pair), sk: 'KNOWN' });

/** Mark that a user signed in from this address. */
const known = recordType('known-sign-in', () =>
  z.object({
    /** Epoch seconds after which the mark expires. */
    ttl: z.number().int(),
  }),
);

/**
 * Build the write that records a successful sign-in of this pair. Return none if one of the last day is recorded.
 */
export async function knownMark(
  accounts: TableReader<'accounts'>,
  pair: AttemptSource,
  now: Date,
): Promise<Write[]> {
  const ttl = Math.ceil(now.getTime() / 1000) + memorySeconds;
  const mark = await findKnown(accounts, pair);
  if (mark !== undefined && mark.ttl > ttl - daySeconds && mark.ttl <= ttl) return [];
  return [{ put: known.item(knownKey(pair), { ttl }) }];
}

const daySeconds = 24 * 60 * 60;
const memorySeconds = 90 * daySeconds;
