import { createHash } from 'node:crypto';
import * as z from 'zod';
import { recordType } from '../table/record.ts';
import { retryOnConflict } from '../table/retry-on-conflict.ts';
import type { Key, TableReader, TableWriter, Write } from '../table/table.ts';
import { ConditionFailedError, WriteLabel } from '../table/write-label.ts';

const attempts = recordType('sign-in-attempts', () =>
  z.object({
    /** Attempts that failed or have not ended yet. */
    count: z.number().int(),
    /** Epoch milliseconds before which no further attempt is taken; 0 where there is nothing to wait for. */
    open_at: z.number().int(),
    /** Epoch seconds after which the count is forgotten. */
    ttl: z.number().int(),
    version: z.number().int(),
  }),
);
export type SignInAttempts = Pick<z.infer<typeof attempts.schema>, 'count' | 'open_at' | 'ttl'>;

/** What attempts are counted by: an address, a user name, or the two together; `act` is another act than to sign in. */
export interface AttemptSource {
  address?: string;
  username?: string;
  act?: 'register';
}

/** What is to become of a count: unchanged, replaced, or raised by one as long as it stays below a limit. */
export type AttemptsChange = { replace: SignInAttempts } | { raise: SignInAttempts; below: number };

/**
 * Changes the counts of all sources in one step into what `next` makes of them; undefined counts nothing so far.
 * Counts that are only raised do not get in each other's way, however many people share an address.
 * Returns false where `next` returned undefined and nothing was changed, or others changed the counts during every attempt.
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
    await accounts.write(...writes);
    return true;
  };
  return retryOnConflict(count, { giveUp: () => false });
}

const attemptsKey = (source: AttemptSource): Key => ({ pk: attemptsPartition(source), sk: 'ATTEMPTS' });

/** Neither addresses nor mistyped names (which may be passwords) are kept readable. */
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
 * Forget all attempts at `forgotten` and one at each of `lowered`, from where the next one is taken at once. `also` are
 * writes that go with it.
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
  // A count that is gone needs no lowering; each retry has one fewer at least.
  for (;;) {
    try {
      await accounts.write(...always, ...lower.map(({ write }) => write));
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

/** A user signed in from this address. */
const known = recordType('known-sign-in', () =>
  z.object({
    /** Epoch seconds after which it is forgotten. */
    ttl: z.number().int(),
  }),
);

/** The write that remembers a success of this pair; none where one of the last day is remembered. */
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
