import type { Key, Page, TableReader, TableWriter, Write } from '../table/table.ts';
import { tryWrite } from '../table/write-label.ts';

/** What users made of one kind, in a partition for each user: so it is found when the user is deleted. */
export interface OwnedList {
  /** The write that puts a new one on its owner's list. */
  add(owner_id: string, id: string): Write;
  /** The write that takes one off. */
  remove(owner_id: string, id: string): Write;
  /** Ids of a page of those that are still theirs, newest first. */
  newest(
    records: TableReader<'records'>,
    owner_id: string,
    page: { limit: number; after: string | undefined },
  ): Promise<Page<string>>;
  /** Ids of a page of those that are still theirs. */
  list(records: TableReader<'records'>, owner_id: string, after: string | undefined): Promise<Page<string>>;
  /** Notes that the owner of one is no more. It is nobody's then; only admins may change it. */
  disown(records: TableWriter<'records'>, owner_id: string, id: string): Promise<void>;
}

/** The lists in partitions `<name>#<owner>` of records at `keyOf(id)`, which have `owner`, `owner_id` and `version`. */
export function ownedList(name: string, keyOf: (id: string) => Key): OwnedList {
  const entry = (owner_id: string, id: string): Key => ({ pk: `${name}#${owner_id}`, sk: id });
  const remove = (owner_id: string, id: string): Write => ({ delete: entry(owner_id, id) });
  return {
    add: (owner_id, id) => ({ put: { ...entry(owner_id, id), record_type: 'owned', schema_version: 0 } }),
    remove,
    async newest(records, owner_id, page) {
      const { items, next } = await records.query({ pk: entry(owner_id, '').pk, descending: true, ...page });
      return { items: items.map(({ sk }) => sk), next };
    },
    async list(records, owner_id, after) {
      const { items, next } = await records.query({ pk: entry(owner_id, '').pk, after, limit: 100 });
      return { items: items.map(({ sk }) => sk), next };
    },
    async disown(records, owner_id, id) {
      const forget = remove(owner_id, id);
      const disown: Write = {
        update: keyOf(id),
        change: { set: { owner: null }, add: { version: 1 } },
        if: { equals: { owner_id } },
      };
      const isDisowned = await tryWrite(records.write(disown, forget));
      // It was deleted meanwhile.
      if (!isDisowned) await records.write(forget);
    },
  };
}
