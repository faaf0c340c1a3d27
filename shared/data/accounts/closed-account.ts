import * as z from 'zod';
import { Timestamp, Ulid } from '../../core/formats.ts';
import {
  readWatched,
  type WatchedList,
  type WatchedPage,
  type WatchedPosition,
} from '../lists/watched-list.ts';
import { recordType } from '../table/record.ts';
import type { Key, TableReader, TableWriter, Write } from '../table/table.ts';

const closedAccount = recordType('closed-account', () => z.object({ user_id: Ulid, closed_at: Timestamp }));

/**
 * Account of a deleted user whose remaining data must still be removed: tokens, pictures, the name on projects.
 * The transaction of the delete writes it, and the removal deletes it last. So after a crash the removal begins
 * again. It is in the accounts table, because one transaction must delete the user and write it.
 */
export type ClosedAccount = z.infer<typeof closedAccount.schema>;

/** List of closed accounts. */
export const closedAccounts: WatchedList<'accounts'> = { table: 'accounts', partitions: ['CLOSED_ACCOUNTS'] };
export const closedAccountKey = (user_id: string): Key => ({ pk: closedAccounts.partitions[0], sk: user_id });

export const recordClosedAccount = (value: ClosedAccount): Write => ({
  put: closedAccount.item(closedAccountKey(value.user_id), value),
});

/** Return a page of closed accounts whose data may not be completely removed. */
export const listClosedAccounts = (
  accounts: TableReader<'accounts'>,
  position: WatchedPosition | undefined,
): Promise<WatchedPage<ClosedAccount>> =>
  readWatched(accounts, closedAccounts, closedAccount.parse, position, 25);

export async function forgetClosedAccount(accounts: TableWriter<'accounts'>, user_id: string): Promise<void> {
  await accounts.write({ delete: closedAccountKey(user_id) });
}
