import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { S3Client } from '@aws-sdk/client-s3';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { objectReader } from '../../shared/aws/objects.ts';
import { everyItem, everyObject, type Inventory } from './inventory.ts';

/** Where the tables and the bucket of a deployment are. */
export interface Stores {
  accounts: string;
  records: string;
  bucket: string;
  dynamoDb: ConstructorParameters<typeof DynamoDBClient>[0];
  s3: ConstructorParameters<typeof S3Client>[0];
}

/** Reads everything that is kept there; changes nothing. */
export async function takeInventory({ accounts, records, bucket, ...place }: Stores): Promise<Inventory> {
  const dynamoDb = new DynamoDBClient(place.dynamoDb ?? {});
  const s3 = new S3Client(place.s3 ?? {});
  const tables = DynamoDBDocumentClient.from(dynamoDb);
  try {
    return {
      accounts: await everyItem(tables, accounts),
      records: await everyItem(tables, records),
      objects: await everyObject(objectReader(s3, bucket)),
    };
  } finally {
    dynamoDb.destroy();
    s3.destroy();
  }
}
