import * as z from 'zod';
import { Ulid } from '../../../shared/core/formats.ts';
import { notFound } from '../../../shared/core/service-error.ts';
import { findUser } from '../../../shared/data/accounts/user.ts';
import type { TableReader } from '../../../shared/data/table/table.ts';

/** Path parameters of the budget of a user. */
export const budgetPath = z.strictObject({ user_id: Ulid.describe('ID of the user.') });

/** @throws ServiceError `not-found` */
export async function requireUser(accounts: TableReader<'accounts'>, user_id: string): Promise<void> {
  if ((await findUser(accounts, user_id)) === undefined) throw notFound('user', user_id);
}
