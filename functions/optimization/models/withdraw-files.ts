import type { PendingFile } from '../../../shared/data/models/model-file.ts';
import { withdrawAnnounced } from '../../../shared/data/projects/purge.ts';
import type { TableWriter } from '../../../shared/data/table/table.ts';

/** Most writes of a transaction. */
const writesAtOnce = 100;

/**
 * Forget the announcements of files that have been accepted. Not part of the transaction that accepts them, as there
 * may be more than it takes: one that a crash leaves is found to be accepted when its day is over.
 */
export async function withdrawFiles(
  records: TableWriter<'records'>,
  accepted: readonly PendingFile[],
): Promise<void> {
  for (let from = 0; from < accepted.length; from += writesAtOnce) {
    const some = accepted.slice(from, from + writesAtOnce);
    await records.write(...some.map(({ object }) => withdrawAnnounced(object)));
  }
}
