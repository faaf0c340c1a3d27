import { type Purge, parsePurge, purgeKey } from '../../../shared/data/projects/purge.ts';
import type { TableReader } from '../../../shared/data/table/table.ts';

/** The purge of this id; undefined where there is none. */
export async function findPurge(
  records: TableReader<'records'>,
  purge_id: string,
): Promise<Purge | undefined> {
  const item = await records.get(purgeKey(purge_id));
  return item && parsePurge(item);
}
