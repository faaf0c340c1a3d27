import { createHash } from 'node:crypto';
import * as z from 'zod';
import { Timestamp } from '../../core/formats.ts';
import { recordType } from '../table/record.ts';
import type { Key, TableName, TableReader, TableWriter, Write } from '../table/table.ts';
import { tryWrite } from '../table/write-label.ts';

/** Seconds for which a key stands for its first request. */
const keptSeconds = 24 * 60 * 60;

const claim = recordType('idempotency-claim', () =>
  z.object({
    /** Digest of the request. */
    fingerprint: z.string(),
    /** The one attempt of the request that may act. */
    holder: z.string(),
    /** Epoch milliseconds after which the holder counts as dead. */
    lease_until: z.number().int(),
    /** Id of the record that the request made, noted by the transaction that made it. */
    made: z.string().optional(),
    /** The first answer, as JSON. */
    answer: z.string().optional(),
    created_at: Timestamp,
    /** Epoch seconds after which the store may remove the item. */
    ttl: z.number().int(),
  }),
);

/**
 * What an `Idempotency-Key` stands for. It lies in the table in which its request makes a record, so that one
 * transaction makes the record and notes it here: whenever a process dies, either both are there or neither is.
 */
export type Claim = z.infer<typeof claim.schema>;

/** Where a caller's key is kept; `scope` tells callers apart. Of the key only a digest is kept: it may be anything. */
export const claimKey = (scope: string, key: string): Key => ({
  pk: `IDEMPOTENCY#${scope}`,
  sk: createHash('sha256').update(key).digest('hex'),
});

/** Claims a key unless a claim of the last 24 h is there; answers that one, or undefined where this one was stored. */
export async function putClaim(
  table: TableWriter<TableName>,
  key: Key,
  { fingerprint, holder, lease_until }: Pick<Claim, 'fingerprint' | 'holder' | 'lease_until'>,
  now: Date,
): Promise<Claim | undefined> {
  const seconds = Math.floor(now.getTime() / 1000);
  const value = {
    fingerprint,
    holder,
    lease_until,
    created_at: now.toISOString(),
    ttl: seconds + keptSeconds,
  };
  const put: Write = {
    put: claim.item(key, value),
    if: { any: [{ exists: false }, { atMost: { ttl: seconds } }] },
  };
  for (;;) {
    if (await tryWrite(table.write(put))) return undefined;
    const present = await findClaim(table, key);
    // Where there is none any more its request has failed meanwhile, and the key is free again.
    if (present !== undefined) return present;
  }
}

export async function findClaim(table: TableReader<TableName>, key: Key): Promise<Claim | undefined> {
  const item = await table.get(key);
  return item && claim.parse(item);
}

/** Takes a claim from a holder who died; false where another one was faster. */
export function takeOver(
  table: TableWriter<TableName>,
  key: Key,
  dead: Claim,
  { holder, lease_until }: Pick<Claim, 'holder' | 'lease_until'>,
): Promise<boolean> {
  const unchanged = { equals: { holder: dead.holder, lease_until: dead.lease_until } };
  return tryWrite(table.write({ update: key, change: { set: { holder, lease_until } }, if: unchanged }));
}

/** Part of the transaction that makes the record `id`; it lets that succeed once, and for the holder only. */
export const noteMade = (key: Key, holder: string, id: string): Write => ({
  update: key,
  change: { set: { made: id } },
  if: { equals: { holder }, absent: ['made'] },
});

/** Keeps the first answer; false where another attempt holds the claim by now. */
export function keepAnswer(
  table: TableWriter<TableName>,
  key: Key,
  holder: string,
  answer: string,
): Promise<boolean> {
  return tryWrite(table.write({ update: key, change: { set: { answer } }, if: { equals: { holder } } }));
}

/**
 * Ends an attempt that failed: the key is free again where nothing was made, and otherwise open at once to whoever
 * asks for what was made. False where another attempt holds the claim by now.
 */
export async function releaseClaim(
  table: TableWriter<TableName>,
  key: Key,
  holder: string,
): Promise<boolean> {
  const equals = { holder };
  if (await tryWrite(table.write({ delete: key, if: { equals, absent: ['made'] } }))) return true;
  return tryWrite(table.write({ update: key, change: { set: { lease_until: 0 } }, if: { equals } }));
}
