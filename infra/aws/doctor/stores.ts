import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { S3Client } from '@aws-sdk/client-s3';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { objectReader } from '../../../shared/aws/objects.ts';
import { eachItem, eachObject } from './inventory.ts';
import { OrphanSearch } from './orphan-search.ts';

/** Where the tables and the bucket of a deployment are. */
export interface Stores {
  accounts: string;
  records: string;
  bucket: string;
  dynamoDb: ConstructorParameters<typeof DynamoDBClient>[0];
  s3: ConstructorParameters<typeof S3Client>[0];
}

/** Reads everything that is kept there, page by page; changes nothing. */
export async function searchStores({ accounts, records, bucket, ...configs }: Stores): Promise<OrphanSearch> {
  const dynamoDb = new DynamoDBClient(configs.dynamoDb ?? {});
  const s3 = new S3Client(configs.s3 ?? {});
  const tables = DynamoDBDocumentClient.from(dynamoDb);
  const search = new OrphanSearch();
  try {
    for await (const item of eachItem(tables, accounts)) search.addAccount(item);
    for await (const item of eachItem(tables, records)) search.addRecord(item);
    for await (const object of eachObject(objectReader(s3, bucket))) search.addObject(object);
    return search;
  } catch (error) {
    search[Symbol.dispose]();
    throw error;
  } finally {
    dynamoDb.destroy();
    s3.destroy();
  }
}
