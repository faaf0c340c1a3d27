import { createHash } from 'node:crypto';
import * as z from 'zod';
import { Timestamp } from '../../core/formats.ts';
import { recordType } from '../table/record.ts';
import type { Key, TableName, TableReader, TableWriter, Write } from '../table/table.ts';
import { tryWrite } from '../table/write-label.ts';

/** Seconds for which a key is bound to its first request. */
const keptSeconds = 24 * 60 * 60;

const claim = recordType('idempotency-claim', () =>
  z.object({
    /** Digest of the request. */
    fingerprint: z.string(),
    /** Attempt of the request that may act. */
    holder: z.string(),
    /** Epoch milliseconds after which the holder counts as dead. */
    lease_until: z.number().int(),
    /** Id of the record that the request created. The same transaction writes both. */
    made: z.string().optional(),
    /** First response, as JSON. */
    answer: z.string().optional(),
    created_at: Timestamp,
    /** Epoch seconds after which DynamoDB may remove the item. */
    ttl: z.number().int(),
  }),
);

/**
 * Claim of an `Idempotency-Key`. It is in the table where its request creates a record, so one transaction creates
 * the record and writes its id here. After a crash, either both exist or neither does.
 */
export type Claim = z.infer<typeof claim.schema>;

/**
 * Return the table key of a caller's claim. `scope` distinguishes callers. Only a digest of the key is stored,
 * because it may be any text.
 */
export const claimKey = (scope: string, key: string): Key => ({
  pk: `IDEMPOTENCY#${scope}`,
  sk: createHash('sha256').update(key).digest('hex'),
});

/**
 * Claim a key, unless a claim of the last 24 h exists. Return that claim, or undefined if the new claim was
 * stored.
 */
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
    // If the claim is gone, its request has failed since, and the key is free again.
    if (present !== undefined) return present;
  }
}

export const findClaim = (table: TableReader<TableName>, key: Key): Promise<Claim | undefined> =>
  claim.find(table, key);

/** Take a claim over from a dead holder. Return false if another attempt was faster. */
export function takeOver(
  table: TableWriter<TableName>,
  key: Key,
  dead: Claim,
  { holder, lease_until }: Pick<Claim, 'holder' | 'lease_until'>,
): Promise<boolean> {
  const unchanged = { equals: { holder: dead.holder, lease_until: dead.lease_until } };
  return tryWrite(table.write({ update: key, change: { set: { holder, lease_until } }, if: unchanged }));
}

/**
 * Build the write for the transaction that creates the record `id`. The transaction succeeds only once, and only
 * for the holder.
 */
export const noteMade = (key: Key, holder: string, id: string): Write => ({
  update: key,
  change: { set: { made: id } },
  if: { equals: { holder }, absent: ['made'] },
});

/** Store the first response. Return false if another attempt holds the claim now. */
export function keepAnswer(
  table: TableWriter<TableName>,
  key: Key,
  holder: string,
  answer: string,
): Promise<boolean> {
  return tryWrite(table.write({ update: key, change: { set: { answer } }, if: { equals: { holder } } }));
}

/**
 * End a failed attempt. If it created no record, free the key. Otherwise end its lease, so the next attempt can
 * answer with the record at once. Return false if another attempt holds the claim now.
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
