import * as z from 'zod';
import { recordType } from '../table/record.ts';
import type { Key, TableReader, Write } from '../table/table.ts';
import { type AttemptSource, attemptsPartition } from './sign-in-attempts.ts';

/** A user signed in from this address. */
const known = recordType('known-sign-in', () =>
  z.object({
    /** Epoch seconds after which it is forgotten. */
    ttl: z.number().int(),
  }),
);

const daySeconds = 24 * 60 * 60;
const memorySeconds = 90 * daySeconds;

const knownKey = (pair: AttemptSource): Key => ({ pk: attemptsPartition(pair), sk: 'KNOWN' });

async function findKnown(
  accounts: TableReader<'accounts'>,
  pair: AttemptSource,
): Promise<{ ttl: number } | undefined> {
  const item = await accounts.get(knownKey(pair));
  return item && known.parse(item);
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
