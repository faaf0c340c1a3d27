import type { Key, Page, TableReader, TableWriter, Write } from '../table/table.ts';
import { tryWrite } from '../table/write-label.ts';

/** Records of one kind by owner, in one partition per user. The delete of a user finds them here. */
export interface OwnedList {
  /** Key pattern of the partitions of all users, for the policy of a role. */
  readonly pattern: string;
  /** Build the write that adds a new record to its owner's list. */
  add(owner_id: string, id: string): Write;
  /** Build the write that removes a record from the list. */
  remove(owner_id: string, id: string): Write;
  /** Return a page of the ids of records that the user still owns, newest first. */
  newest(
    records: TableReader<'records'>,
    owner_id: string,
    page: { limit: number; after: string | undefined },
  ): Promise<Page<string>>;
  /** Return a page of the ids of records that the user still owns. */
  list(records: TableReader<'records'>, owner_id: string, after: string | undefined): Promise<Page<string>>;
  /** Remove the deleted owner from a record. Then it has no owner, and only admins may change it. */
  disown(records: TableWriter<'records'>, owner_id: string, id: string): Promise<void>;
}

/**
 * Create the lists in partitions `<name>#<owner>`. The records are at `keyOf(id)` and have `owner`, `owner_id` and
 * `version`.
 */
export function ownedList(name: string, keyOf: (id: string) => Key): OwnedList {
  const entry = (owner_id: string, id: string): Key => ({ pk: `${name}#${owner_id}`, sk: id });
  const remove = (owner_id: string, id: string): Write => ({ delete: entry(owner_id, id) });
  return {
    pattern: entry('*', '').pk,
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
      // The record was deleted since.
      if (!isDisowned) await records.write(forget);
    },
  };
}
