import * as z from 'zod';
import { Timestamp, Ulid } from '../../core/formats.ts';
import { readRows, type UnreadableRow, type WatchedList } from '../lists/watched-list.ts';
import { recordType } from '../table/record.ts';
import type { Key, TableReader, Write } from '../table/table.ts';

/** Days for which what an MLflow client has marked as deleted can be restored. */
export const retentionDays = 30;

/**
 * What is marked as deleted, by the time at which it goes. Beside each row lies one that expires at that time, by which
 * the table's stream starts the purge; until then nothing looks at the list. A row stays when its mark is taken away:
 * when its time comes, it no longer says the same as the record.
 */
export const retainedList: WatchedList<'records'> = {
  table: 'records',
  partitions: ['RETAINED'],
  startsByExpiry: true,
};
const pk = retainedList.partitions[0];
const rowPrefix = 'UNTIL#';

const row = recordType('retained', () =>
  z.object({
    project_id: Ulid,
    /** Null where the whole project is marked, or a logged model. */
    experiment_id: Ulid.nullable(),
    /** The logged model that is marked; absent otherwise. */
    model_id: Ulid.optional(),
    /** Of the mark. */
    deleted_at: Timestamp,
  }),
);
export type Retained = z.infer<typeof row.schema> & { key: Key };

const clock = recordType('retention-clock', () => z.object({ ttl: z.number().int() }));

/** The writes that go before a mark, so that no mark is without its end. */
export function retain(marked: z.infer<typeof row.schema>): Write[] {
  const { project_id, experiment_id, model_id, deleted_at } = marked;
  const until = new Date(Date.parse(deleted_at) + retentionDays * 86_400_000);
  const sk = `${until.toISOString()}#${project_id}#${experiment_id ?? model_id ?? ''}`;
  const ttl = Math.ceil(until.getTime() / 1000);
  return [
    { put: row.item({ pk, sk: `${rowPrefix}${sk}` }, marked) },
    { put: clock.item({ pk, sk: `CLOCK#${sk}` }, { ttl }) },
  ];
}

/** Look at a row that cannot go yet again after an hour. */
export const lookAgain = ({ key }: Retained, now: Date): Write => ({
  put: clock.item(
    { pk, sk: `CLOCK#${key.sk.slice(rowPrefix.length)}` },
    { ttl: Math.ceil(now.getTime() / 1000) + 3600 },
  ),
});

/** Rows whose time has come. */
interface DuePage {
  /** The earliest first. */
  items: Retained[];
  unreadable: UnreadableRow[];
  /** Where the next page begins; undefined where none is due any more. */
  next: string | undefined;
}

/** A page of the rows whose time has come. A row that cannot be read spoils no other. */
export async function listDue(
  records: TableReader<'records'>,
  now: Date,
  after: string | undefined,
): Promise<DuePage> {
  const page = await records.query({ pk, prefix: rowPrefix, after, limit: 25 });
  const due = page.items.filter(({ sk }) => sk < `${rowPrefix}${now.toISOString()}`);
  const next = due.length < page.items.length ? undefined : page.next;
  return { ...readRows(due, (item) => ({ ...row.parse(item), key: { pk, sk: item.sk } })), next };
}

export const dropRetained = ({ key }: Retained): Write => ({ delete: key });
