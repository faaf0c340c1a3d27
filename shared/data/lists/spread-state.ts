import type { Key, TableName, TableReader, TableWriter } from '../table/table.ts';

/** There once the lists of the deployment are spread, which they stay. */
const spreadKey: Key = { pk: 'LISTS', sk: 'SPREAD' };

/** Tables whose lists this process knows to be spread. */
const spreadTables = new WeakSet<TableReader<TableName>>();
/** When tables were last seen with lists that are not, by the monotonic clock. */
const checkedAt = new WeakMap<TableReader<TableName>, number>();
const staleMilliseconds = 10_000;

/** Whether this process knows it already. */
export const isKnownToBeSpread = (table: TableReader<TableName>): boolean => spreadTables.has(table);

/** Whether rows of spread lists can be in other partitions than the first. */
export async function isSpread(table: TableReader<TableName>): Promise<boolean> {
  if (spreadTables.has(table)) return true;
  if ((await table.get(spreadKey)) === undefined) {
    checkedAt.set(table, performance.now());
    return false;
  }
  spreadTables.add(table);
  return true;
}

/**
 * The same for who adds a row, as it was within the last ten seconds: a row that is put into the first partition when
 * the lists have just been spread is found there all the same.
 */
export async function wasSpread(table: TableReader<TableName>): Promise<boolean> {
  const at = checkedAt.get(table);
  if (at !== undefined && performance.now() - at < staleMilliseconds) return spreadTables.has(table);
  return isSpread(table);
}

/** Spread the lists. To be done before the first row is put into another partition, so that no reader misses it. */
export async function spreadLists(table: TableWriter<TableName>): Promise<void> {
  await table.write({ put: { ...spreadKey, record_type: 'spread', schema_version: 0 } });
  spreadTables.add(table);
}
