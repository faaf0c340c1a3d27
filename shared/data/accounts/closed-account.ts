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
 * An account whose user was deleted and whose remains are still to be removed: tokens, pictures, the name on projects.
 * It is written in the same transaction as the delete itself and removed last of all, so that a crash anywhere only
 * makes the removal begin again. It lies beside the users, because nothing else ties both tables together.
 */
export type ClosedAccount = z.infer<typeof closedAccount.schema>;

/** The list of closed accounts. */
export const closedAccounts: WatchedList<'accounts'> = { table: 'accounts', partitions: ['CLOSED_ACCOUNTS'] };
export const closedAccountKey = (user_id: string): Key => ({ pk: closedAccounts.partitions[0], sk: user_id });

export const recordClosedAccount = (value: ClosedAccount): Write => ({
  put: closedAccount.item(closedAccountKey(value.user_id), value),
});

/** Closed accounts whose remains are not all known to be gone. */
export const listClosedAccounts = (
  accounts: TableReader<'accounts'>,
  position: WatchedPosition | undefined,
): Promise<WatchedPage<ClosedAccount>> =>
  readWatched(accounts, closedAccounts, closedAccount.parse, position, 25);

export async function forgetClosedAccount(accounts: TableWriter<'accounts'>, user_id: string): Promise<void> {
  await accounts.write({ delete: closedAccountKey(user_id) });
}
