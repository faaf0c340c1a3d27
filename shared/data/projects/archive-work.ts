import * as z from 'zod';
import {
  readWatched,
  type WatchedList,
  type WatchedPage,
  type WatchedPosition,
} from '../lists/watched-list.ts';
import { recordType } from '../table/record.ts';
import type { Key, TableReader, Write } from '../table/table.ts';

const work = recordType('archive-work', () =>
  z.object({
    of: z.enum(['export', 'import']),
    /** Record of the export or import. */
    subject: z.object({ pk: z.string(), sk: z.string() }),
  }),
);
/** An export or import that is not finished; `id` is its own. */
export type ArchiveWork = z.infer<typeof work.schema> & { id: string };

/** The list of exports and imports that are not finished. */
export const unfinishedArchives: WatchedList<'records'> = { table: 'records', partitions: ['ARCHIVES'] };

export const archiveWorkKey = (id: string): Key => ({ pk: unfinishedArchives.partitions[0], sk: id });

export const putArchiveWork = ({ id, ...value }: ArchiveWork): Write => ({
  put: work.item(archiveWorkKey(id), value),
});
export const removeArchiveWork = (id: string): Write => ({ delete: archiveWorkKey(id) });

/** A page of what is not finished, oldest first. */
export const listArchiveWork = (
  records: TableReader<'records'>,
  position: WatchedPosition | undefined,
): Promise<WatchedPage<ArchiveWork>> =>
  readWatched(records, unfinishedArchives, (item) => ({ ...work.parse(item), id: item.sk }), position, 25);
