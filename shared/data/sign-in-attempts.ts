import { createHash } from 'node:crypto';
import * as z from 'zod';
import { recordType } from './record.ts';
import { ConditionFailed, type Key, type TableWriter, type Write } from './table.ts';

const attempts = recordType(
  'sign-in-attempts',
  z.object({
    /** Attempts that failed or have not ended yet. */
    count: z.number().int(),
    /** Epoch milliseconds before which no further attempt is taken. */
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

/**
 * Replaces the counts of all sources in one step by what `next` makes of them; undefined counts nothing so far.
 * Returns false where `next` returned undefined and nothing was changed, or others changed the counts all the time.
 */
export async function changeAttempts<Sources extends readonly SignInSource[]>(
  accounts: TableWriter<'accounts'>,
  sources: Sources,
  next: (
    present: readonly (SignInAttempts | undefined)[],
  ) => readonly (SignInAttempts | undefined)[] | undefined,
): Promise<boolean> {
  const keys = sources.map(attemptsKey);
  for (let round = 0; round < rounds; round += 1) {
    const items = await accounts.batchGet(keys);
    const present = items.map((item) => item && attempts.parse(item));
    const changed = next(present);
    if (changed === undefined) return false;
    const writes = keys.map((key, index): Write => {
      const [was, is] = [present[index], changed[index]];
      const unchanged = was === undefined ? { exists: false } : { equals: { version: was.version } };
      if (is === undefined) return { delete: key, if: unchanged };
      return { put: attempts.item(key, { ...is, version: (was?.version ?? 0) + 1 }), if: unchanged };
    });
    try {
      await accounts.write(...writes);
      return true;
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error;
    }
    // Many people behind one address sign in at nine o'clock; random pauses let one after the other through.
    await new Promise((resolve) => setTimeout(resolve, Math.random() * Math.min(200, 10 * 2 ** round)));
  }
  return false;
}
