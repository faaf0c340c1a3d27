import { type DynamoDBDocumentClient, ScanCommand } from '@aws-sdk/lib-dynamodb';
import type { ObjectReader } from '../../../shared/aws/objects.ts';
import type { Item } from '../../../shared/data/table/table.ts';

/** Everything that a deployment keeps. Values that are bytes (logs, contents) are left out. */
export interface Inventory {
  accounts: readonly Item[];
  records: readonly Item[];
  objects: readonly StoredObject[];
}

/** An object in the bucket. */
export interface StoredObject {
  key: string;
  size: number;
}

/**
 * Every item of a table, read by Scan: what a delete has left behind is in partitions that nothing names any more. For
 * an operator who asks for it alone; the service itself never scans.
 */
export async function* eachItem(client: DynamoDBDocumentClient, tableName: string): AsyncGenerator<Item> {
  let after: Record<string, unknown> | undefined;
  do {
    const page = await client.send(
      new ScanCommand({
        TableName: tableName,
        ConsistentRead: true,
        ...(after !== undefined && { ExclusiveStartKey: after }),
      }),
    );
    for (const item of page.Items ?? []) yield withoutBytes(item);
    after = page.LastEvaluatedKey;
  } while (after !== undefined);
}

/** The number of bytes read does not matter to the owners of items. */
function withoutBytes(item: Record<string, unknown>): Item {
  const kept = Object.entries(item).filter(([, value]) => !(value instanceof Uint8Array));
  const { pk, sk, ...rest }: Record<string, unknown> = Object.fromEntries(kept);
  if (typeof pk !== 'string' || typeof sk !== 'string') throw new Error('an item without its primary key');
  return { ...rest, pk, sk };
}

/** The same in memory. */
export const everyItem = (client: DynamoDBDocumentClient, tableName: string): Promise<Item[]> =>
  Array.fromAsync(eachItem(client, tableName));

/** Every object of the bucket. */
export async function* eachObject(objects: Pick<ObjectReader, 'list'>): AsyncGenerator<StoredObject> {
  let after: string | undefined;
  do {
    const page = await objects.list('', after);
    yield* page.objects;
    after = page.next;
  } while (after !== undefined);
}

/** The same in memory. */
export const everyObject = (objects: Pick<ObjectReader, 'list'>): Promise<StoredObject[]> =>
  Array.fromAsync(eachObject(objects));
