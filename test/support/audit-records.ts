import type { Item, TableWriter } from '../../shared/data/table/table.ts';

/** Every audit record of this month, of both tables. */
export async function auditRecords({
  records,
  accounts,
}: {
  records: TableWriter<'records'>;
  accounts: TableWriter<'accounts'>;
}): Promise<Item[]> {
  const month = new Date().toISOString().slice(0, 7);
  const shards = Array.from({ length: 8 }, (_, shard) => records.query({ pk: `AUDIT#${month}#${shard}` }));
  const pages = await Promise.all([...shards, accounts.query({ pk: `AUDIT#${month}#0` })]);
  return pages.flatMap(({ items }) => items);
}
