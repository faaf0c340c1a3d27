import { type DynamoDBDocumentClient, ScanCommand } from '@aws-sdk/lib-dynamodb';
import type { ObjectReader } from '../../../shared/aws/objects.ts';
import { pagesOf } from '../../../shared/data/table/pages-of.ts';
import type { Item } from '../../../shared/data/table/table.ts';

/** An object in the bucket. */
export interface StoredObject {
  key: string;
  size: number;
}

/**
 * Read every item of a table with Scan, because leftovers of a delete are in partitions that nothing refers to.
 * This is only for an operator's check; the service itself never scans.
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

/** Drop binary values: the search for owners does not need them. */
function withoutBytes(item: Record<string, unknown>): Item {
  const kept = Object.entries(item).filter(([, value]) => !(value instanceof Uint8Array));
  const { pk, sk, ...rest }: Record<string, unknown> = Object.fromEntries(kept);
  if (typeof pk !== 'string' || typeof sk !== 'string') throw new Error('an item without its primary key');
  return { ...rest, pk, sk };
}

/** Yield every object of the bucket. */
export async function* eachObject(objects: Pick<ObjectReader, 'list'>): AsyncGenerator<StoredObject> {
  for await (const page of pagesOf((after) => objects.list('', after))) {
    yield* page.objects;
  }
}
