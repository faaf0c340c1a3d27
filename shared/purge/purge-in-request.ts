import { forSeconds } from '../core/deadline.ts';
import { errorName } from '../core/error-text.ts';
import type { Logger } from '../core/log.ts';
import type { Purge } from '../data/projects/purge.ts';
import type { TableWriter } from '../data/table/table.ts';
import { type PurgedObjects, runPurge } from './run-purge.ts';

/**
 * Remove the leftovers of a delete within its request. Log errors instead of throwing: the record is deleted and
 * its purge is stored, so the request has succeeded.
 * @param before work to do first
 */
export async function purgeInRequest(
  { records, objects, log }: Context,
  purge: Purge,
  before?: () => Promise<void>,
): Promise<void> {
  try {
    await before?.();
    await runPurge(records, objects, purge, forSeconds(purgeSeconds));
  } catch (error) {
    log.warn('purge-later', { purge_id: purge.purge_id, error: errorName(error) });
  }
}

interface Context {
  records: TableWriter<'records'>;
  /** Undefined for a purge without objects. */
  objects: PurgedObjects | undefined;
  log: Logger;
}

/** Seconds that a request spends on a purge, of the 29 that it has in total. The purge event does the rest. */
const purgeSeconds = 10;
