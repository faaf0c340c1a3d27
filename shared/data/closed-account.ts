import * as z from 'zod';
import { Timestamp, Ulid } from '../endpoint/parameters.ts';
import { recordType } from './record.ts';
import type { Key, Page, TableReader, TableWriter, Write } from './table.ts';
import { readPage } from './unreadable-record.ts';
import type { WatchedList } from './watched-list.ts';

const closedAccount = recordType('closed-account', () => z.object({ user_id: Ulid, closed_at: Timestamp }));

/**
 * An account whose user was deleted and whose remains are still to be removed: tokens, pictures, the name on projects.
 * It is written in the same transaction as the delete itself and removed last of all, so that a crash anywhere only
 * makes the removal begin again. It lies beside the users, because nothing else ties both tables together.
 */
export type ClosedAccount = z.infer<typeof closedAccount.schema>;

/** The list of closed accounts. */
export const closedAccounts: WatchedList<'accounts'> = { table: 'accounts', partition: 'CLOSED_ACCOUNTS' };
const closedAccountKey = (user_id: string): Key => ({ pk: closedAccounts.partition, sk: user_id });

export const recordClosedAccount = (value: ClosedAccount): Write => ({
  put: closedAccount.item(closedAccountKey(value.user_id), value),
});

/** Closed accounts whose remains are not all known to be gone. */
export async function listClosedAccounts(
  accounts: TableReader<'accounts'>,
  after: string | undefined,
): Promise<Page<ClosedAccount>> {
  return readPage(
    await accounts.query({ pk: closedAccounts.partition, after, limit: 25 }),
    closedAccount.parse,
  );
}

export async function forgetClosedAccount(accounts: TableWriter<'accounts'>, user_id: string): Promise<void> {
  await accounts.write({ delete: closedAccountKey(user_id) });
}
