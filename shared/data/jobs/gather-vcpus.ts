import { readAgain, retryOnConflict } from '../table/retry-on-conflict.ts';
import type { TableWriter, Write } from '../table/table.ts';
import { TableBusyError } from '../table/table-busy.ts';
import { dealWrites, gatherWrites } from './deal-vcpus.ts';
import { type Reservation, readDealt } from './vcpu-shares.ts';

/** @throws TableBusyError for shares that others changed during every attempt */
export function refuseBusyShares(cause: unknown): never {
  throw new TableBusyError('the shares of the vCPU limit changed during every attempt', { cause });
}

/**
 * The writes by which a job takes its vCPUs from its own share and others; undefined where all together have too few.
 * @throws TableBusyError when others change the shares during every attempt
 */
export async function gatherVcpus(
  records: TableWriter<'records'>,
  job: Reservation,
  limit: number,
): Promise<Write[] | undefined> {
  let wasShort = false;
  const read = async () => {
    const dealt = await readDealt(records);
    const dealing = dealWrites(dealt, limit);
    if (dealing.length > 0) {
      await records.write(...dealing);
      return readAgain;
    }
    const taking = gatherWrites(dealt, job, limit);
    // The shares are read one after the other: tokens on their way from one to another may have been missed.
    if (taking !== undefined || wasShort) return taking;
    wasShort = true;
    return readAgain;
  };
  return retryOnConflict(read, { giveUp: refuseBusyShares });
}
