import { createHash } from 'node:crypto';
import * as z from 'zod';
import { recordType } from '../table/record.ts';
import type { Key, TableReader, TableWriter, Write } from '../table/table.ts';
import { WriteLabel } from '../table/write-label.ts';

const issuerKeys = recordType('issuer-keys', () =>
  z.object({
    issuer: z.string(),
    jwks_uri: z.string(),
    /** Its key set as JSON. */
    jwks: z.string(),
    /** Epoch milliseconds of the fetch. */
    fetched_at: z.number().int(),
    /** Epoch seconds after which DynamoDB may remove the item. */
    ttl: z.number().int(),
  }),
);
/** Keys of an issuer, as last fetched by any process. */
export type IssuerKeySet = Omit<z.infer<typeof issuerKeys.schema>, 'ttl'>;

const digest = (...parts: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex');

const keysKey = (issuer: string): Key => ({ pk: `ISSUER#${digest(issuer)}`, sk: 'KEYS' });

/** Seconds for which the keys of an issuer that is away are used. */
export const keepKeysSeconds = 24 * 60 * 60;

export const findIssuerKeys = (
  accounts: TableReader<'accounts'>,
  issuer: string,
): Promise<IssuerKeySet | undefined> => issuerKeys.find(accounts, keysKey(issuer));

export async function putIssuerKeys(accounts: TableWriter<'accounts'>, value: IssuerKeySet): Promise<void> {
  const ttl = Math.ceil(value.fetched_at / 1000) + keepKeysSeconds;
  await accounts.write({ put: issuerKeys.item(keysKey(value.issuer), { ...value, ttl }) });
}

const usedAssertion = recordType('used-assertion', () =>
  z.object({
    /** Epoch seconds after which the assertion has expired, and the item may go. */
    ttl: z.number().int(),
  }),
);

/** Label of the write that notes that an assertion was used. */
export const assertionUse = new WriteLabel('assertion');

/**
 * Build the write that notes the use of a token of an issuer. It fails if the token was used before.
 * @param id `jti` of the token, or the token itself
 * @param until epoch seconds until which the token is valid
 */
export const useAssertion = (issuer: string, id: string, until: number): Write =>
  assertionUse.on({
    put: usedAssertion.item({ pk: `ASSERTION#${digest(issuer, id)}`, sk: 'USED' }, { ttl: Math.ceil(until) }),
    if: { exists: false },
  });
