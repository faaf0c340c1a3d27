import type { TableWriter } from '../data/table/table.ts';
import { networkOf } from './network-of.ts';
import { type Schedule, takeTurn } from './turn.ts';

/**
 * Limit of registrations. A class that shares an address can register at once. After that, an address gets at most
 * 96 accounts a day.
 */
const registrationSchedule: Schedule = { free: 30, maxSeconds: 15 * 60, memorySeconds: 24 * 60 * 60 };

/**
 * Count a registration by a caller who is not an admin, for the caller's network.
 * @throws ServiceError `too-many-requests` after too many registrations from this network
 */
export async function countRegistration(
  accounts: TableWriter<'accounts'>,
  sourceIp: string,
  now: Date,
): Promise<void> {
  const source = { address: networkOf(sourceIp), act: 'register' } as const;
  const tooMany = 'Too many accounts were registered from this address';
  await takeTurn(accounts, [{ source, schedule: registrationSchedule }], now, tooMany);
}
