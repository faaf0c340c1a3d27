import * as z from 'zod';
import { keyBytes, newKey } from '../../core/encryption.ts';
import { Timestamp } from '../../core/formats.ts';
import { withoutAudit } from '../table/audited-writer.ts';
import { Bytes, type RecordType } from '../table/record.ts';
import type { Key, TableReader, TableWriter } from '../table/table.ts';
import { tryWrite } from '../table/write-label.ts';

/** Schema of the record of a key. */
export const keySchema = () =>
  z.object({
    key: Bytes.refine((bytes) => bytes.length === keyBytes, `must be ${keyBytes} bytes`),
    created_at: Timestamp,
  });

/** A random key that a deployment makes at its first use, and keeps. */
export interface DeploymentKey {
  /** Return the key; undefined before its first use. */
  find(accounts: TableReader<'accounts'>): Promise<Uint8Array | undefined>;
  /** Return the key. Create it on the first call in a deployment. */
  obtain(accounts: TableWriter<'accounts'>, now: Date): Promise<Uint8Array>;
}

/**
 * Define a key of the deployment.
 * @param partition of its own, which few functions may read
 * @param record its kind of record
 */
export function deploymentKey(
  partition: string,
  record: RecordType<ReturnType<typeof keySchema>>,
): DeploymentKey {
  const at: Key = { pk: partition, sk: partition };
  async function find(accounts: TableReader<'accounts'>): Promise<Uint8Array | undefined> {
    const item = await accounts.get(at);
    return item && record.parse(item).key;
  }
  return {
    find,
    async obtain(accounts, now) {
      const present = await find(accounts);
      if (present !== undefined) return present;
      const key = newKey();
      const item = record.item(at, { key, created_at: now.toISOString() });
      if (await tryWrite(withoutAudit(accounts).write({ put: item, if: { exists: false } }))) return key;
      const others = await find(accounts);
      if (others === undefined) throw new Error(`the key ${partition} existed but is missing now`);
      return others;
    },
  };
}
