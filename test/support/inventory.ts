import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { eachItem, eachObject, type StoredObject } from '../../infra/aws/doctor/inventory.ts';
import { OrphanSearch } from '../../infra/aws/doctor/orphan-search.ts';
import type { Finding } from '../../infra/aws/doctor/report-orphans.ts';
import type { ObjectReader } from '../../shared/aws/objects.ts';
import type { Item } from '../../shared/data/table/table.ts';

/** All data of a deployment, without binary values (logs, contents). */
export interface Inventory {
  accounts: readonly Item[];
  records: readonly Item[];
  objects: readonly StoredObject[];
}

export const everyItem = (client: DynamoDBDocumentClient, tableName: string): Promise<Item[]> =>
  Array.fromAsync(eachItem(client, tableName));

export const everyObject = (objects: Pick<ObjectReader, 'list'>): Promise<StoredObject[]> =>
  Array.fromAsync(eachObject(objects));

/** Orphaned and inconsistent records; none if all is consistent and no job or delete is in progress. */
export function findOrphans({ accounts, records, objects }: Inventory): Finding[] {
  using search = new OrphanSearch();
  for (const item of accounts) search.addAccount(item);
  for (const item of records) search.addRecord(item);
  for (const object of objects) search.addObject(object);
  return [...search.findings()];
}
