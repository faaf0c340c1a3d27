import type { TableWriter } from '../data/table/table.ts';
import { networkOf } from './network-of.ts';
import { type Schedule, takeTurn } from './turn.ts';

/** A class that shares an address registers at once; beyond that an address gets at most 96 accounts a day. */
const registrationSchedule: Schedule = { free: 30, maxSeconds: 15 * 60, memorySeconds: 24 * 60 * 60 };

/**
 * Count a registration that is not by an admin, for its network.
 *
 * @throws ServiceError `too-many-requests` where too many came from this network
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
