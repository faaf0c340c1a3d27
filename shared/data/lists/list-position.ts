import * as z from 'zod';
import { recordType } from '../table/record.ts';
import type { Key, TableReader, TableWriter } from '../table/table.ts';
import type { WatchedList, WatchedPosition } from './watched-list.ts';

const listPosition = recordType('list-position', () =>
  z.object({ partition: z.string(), after: z.string().nullable() }),
);

type List = WatchedList<'records'>;

const positionKey = ({ partitions }: List): Key => ({ pk: 'LIST_POSITIONS', sk: partitions[0] });

/** Return where the last pass over a list ran out of time; undefined where it came to the end. */
export async function readPosition(
  records: TableReader<'records'>,
  list: List,
): Promise<WatchedPosition | undefined> {
  const item = await records.get(positionKey(list));
  if (item === undefined) return undefined;
  const { partition: pk, after } = listPosition.parse(item);
  // A version with other partitions may have written it: the list begins anew then.
  return list.partitions.includes(pk) ? { pk, after: after ?? undefined } : undefined;
}

export const savePosition = (
  records: TableWriter<'records'>,
  list: List,
  { pk: partition, after = null }: { pk: string; after?: string | null | undefined },
): Promise<void> => records.write({ put: listPosition.item(positionKey(list), { partition, after }) });

export const forgetPosition = (records: TableWriter<'records'>, list: List): Promise<void> =>
  records.write({ delete: positionKey(list) });
