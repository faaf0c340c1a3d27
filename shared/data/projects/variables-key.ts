import * as z from 'zod';
import { Timestamp } from '../../core/formats.ts';
import { within } from '../../core/needs.ts';
import { keyBytes, newKey } from '../../core/seal.ts';
import { readAccounts, writeAccounts } from '../table/needs.ts';
import { Bytes, recordType } from '../table/record.ts';
import type { Key, TableReader, TableWriter } from '../table/table.ts';
import { tryWrite } from '../table/try-write.ts';

const partition = 'VARIABLES_KEY';
const key: Key = { pk: partition, sk: partition };

const variablesKey = recordType('variables-key', () =>
  z.object({
    key: Bytes.refine((bytes) => bytes.length === keyBytes, `must be ${keyBytes} bytes`),
    created_at: Timestamp,
  }),
);

// Marked as pure, so that a bundle holds the clients of what it needs alone.
/** The key of the deployment, to open secret variables with. */
export const readVariablesKey = /* @__PURE__ */ within(readAccounts, { partitions: [partition] });
/** The same, and making it with the first secret. */
export const makeVariablesKey = /* @__PURE__ */ within(writeAccounts, { partitions: [partition] });

/**
 * The key that encrypts the secret variables of all projects. It lies in the table of accounts, apart from what it
 * encrypts, where no job and no function without this need reaches it. Undefined before the first secret.
 */
export async function findVariablesKey(accounts: TableReader<'accounts'>): Promise<Uint8Array | undefined> {
  const item = await accounts.get(key);
  return item && variablesKey.parse(item).key;
}

/** The key that encrypts the secret variables, made once for each deployment. */
export async function obtainVariablesKey(accounts: TableWriter<'accounts'>, now: Date): Promise<Uint8Array> {
  const present = await findVariablesKey(accounts);
  if (present !== undefined) return present;
  const made = newKey();
  const item = variablesKey.item(key, { key: made, created_at: now.toISOString() });
  if (await tryWrite(accounts.write({ put: item, if: { exists: false } }))) return made;
  const others = await findVariablesKey(accounts);
  if (others === undefined) throw new Error('the key of variables was there, and is gone');
  return others;
}
