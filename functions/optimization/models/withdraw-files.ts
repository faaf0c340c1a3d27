import type { PendingFile } from '../../../shared/data/models/model-file.ts';
import { withdrawAnnounced } from '../../../shared/data/projects/purge.ts';
import type { TableWriter } from '../../../shared/data/table/table.ts';

/** Most writes of a transaction. */
const writesAtOnce = 100;

/**
 * Delete the announcements of accepted files. The transaction that accepts them may have no room for these writes.
 * If a crash leaves an announcement, its purge a day later finds that the file is accepted.
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
