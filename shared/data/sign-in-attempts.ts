import { createHash } from 'node:crypto';
import * as z from 'zod';
import { recordType } from './record.ts';
import { ConditionFailed, type Key, type TableWriter, type Write } from './table.ts';

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

/** What attempts are counted by: an address, or an address with the user name that was tried from it. */
export interface SignInSource {
  address: string;
  username?: string;
}

/** Neither addresses nor mistyped names (which may be passwords) are kept readable. */
function attemptsKey({ address, username }: SignInSource): Key {
  const digest = createHash('sha256')
    .update(JSON.stringify([address, username]))
    .digest('hex');
  return { pk: `SIGN-IN#${digest}`, sk: 'ATTEMPTS' };
}

const rounds = 10;

/** What is to become of a count: unchanged, replaced, or raised by one as long as it stays below a limit. */
export type AttemptsChange = { replace: SignInAttempts } | { raise: SignInAttempts; below: number };

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
 * Changes the counts of all sources in one step into what `next` makes of them; undefined counts nothing so far.
 * Counts that are only raised do not get in each other's way, however many people share an address.
 * Returns false where `next` returned undefined and nothing was changed, or others changed the counts all the time.
 */
export async function changeAttempts(
  accounts: TableWriter<'accounts'>,
  sources: readonly SignInSource[],
  next: (present: readonly (SignInAttempts | undefined)[]) => readonly AttemptsChange[] | undefined,
): Promise<boolean> {
  const keys = sources.map(attemptsKey);
  for (let round = 0; round < rounds; round += 1) {
    const items = await accounts.batchGet(keys);
    const present = items.map((item) => item && attempts.parse(item));
    const changes = next(present);
    if (changes === undefined) return false;
    const writes = keys.flatMap((key, index) => {
      const change = changes[index];
      return change === undefined ? [] : [countWrite(key, present[index], change)];
    });
    try {
      await accounts.write(...writes);
      return true;
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, Math.random() * Math.min(200, 10 * 2 ** round)));
  }
  return false;
}

/** Forgets all attempts at `forgotten`, and one at `lowered`, from where the next one is taken at once. */
export async function forgiveAttempts(
  accounts: TableWriter<'accounts'>,
  { forgotten, lowered }: { forgotten: SignInSource; lowered: SignInSource },
): Promise<void> {
  const forget: Write = { delete: attemptsKey(forgotten) };
  const lower: Write = {
    update: attemptsKey(lowered),
    change: { add: { count: -1, version: 1 }, set: { open_at: 0 } },
    if: { above: { count: 0 } },
  };
  try {
    await accounts.write(forget, lower);
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
    await accounts.write(forget);
  }
}
