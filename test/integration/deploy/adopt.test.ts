import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CreateTableCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  DynamoDBClient,
  type StreamViewType,
} from '@aws-sdk/client-dynamodb';
import { S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { prepareAdopted } from '../../../infra/aws/deploy/adopt.ts';
import { startDynamoDb } from '../../../infra/local/dynamodb/start-dynamodb.ts';
import { startS3Server } from '../../../infra/local/s3/s3-server.ts';

const credentials = { accessKeyId: 'key', secretAccessKey: 'secret' };
const region = 'us-east-1';
const stack = new AsyncDisposableStack();
let clients: { dynamoDb: DynamoDBClient; s3: S3Client };

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'mps-adopt-'));
  stack.defer(() => rm(folder, { recursive: true }));
  const engine = await startDynamoDb(join(folder, 'records.db'));
  stack.defer(() => engine.close());
  const buckets = ['kept'];
  const s3 = await startS3Server({ folder: join(folder, 's3'), port: 0, region, credentials, buckets });
  stack.defer(() => s3.close());
  clients = {
    dynamoDb: new DynamoDBClient({ region, credentials, endpoint: engine.url }),
    s3: new S3Client({ region, credentials, endpoint: s3.url, forcePathStyle: true }),
  };
});
afterAll(() => stack.disposeAsync());

/** A table as one that was restored from a backup: without stream and expiry, unless given. */
async function table(TableName: string, hash = 'pk', view?: StreamViewType): Promise<string> {
  const attribute = (AttributeName: string) => ({ AttributeName, AttributeType: 'S' as const });
  await clients.dynamoDb.send(
    new CreateTableCommand({
      TableName,
      KeySchema: [
        { AttributeName: hash, KeyType: 'HASH' },
        { AttributeName: 'sk', KeyType: 'RANGE' },
      ],
      AttributeDefinitions: [attribute(hash), attribute('sk')],
      BillingMode: 'PAY_PER_REQUEST',
      ...(view !== undefined && { StreamSpecification: { StreamEnabled: true, StreamViewType: view } }),
    }),
  );
  return TableName;
}

test('restored tables get the stream and the expiry that the service needs, once', async () => {
  const [accounts, records] = [await table('restored-accounts'), await table('restored-records')];
  for (const _ of [1, 2]) await prepareAdopted(clients, { accounts, records, bucket: 'kept' });
  for (const TableName of [accounts, records]) {
    const { Table } = await clients.dynamoDb.send(new DescribeTableCommand({ TableName }));
    expect(Table?.StreamSpecification).toMatchObject({ StreamEnabled: true, StreamViewType: 'KEYS_ONLY' });
    const expiry = await clients.dynamoDb.send(new DescribeTimeToLiveCommand({ TableName }));
    expect(expiry.TimeToLiveDescription?.AttributeName).toBe('ttl');
  }
});

test('everything that cannot be adopted is named at once, and nothing is changed', async () => {
  const [good, foreign, streamed] = [
    await table('good'),
    await table('foreign', 'id'),
    await table('streamed', 'pk', 'NEW_IMAGE'),
  ];
  const attempt = (accounts: string, records: string, bucket: string) =>
    prepareAdopted(clients, { accounts, records, bucket });
  await expect(attempt(foreign, 'nowhere', 'lost')).rejects.toThrow(
    /foreign does not belong to this service.*\n.*no table nowhere.*\n.*no bucket lost/,
  );
  await expect(attempt(good, streamed, 'kept')).rejects.toThrow(/stream of NEW_IMAGE/);
  await expect(attempt(good, good, 'kept')).rejects.toThrow(/must be two tables, not both good/);
  const { Table } = await clients.dynamoDb.send(new DescribeTableCommand({ TableName: good }));
  expect(Table?.StreamSpecification?.StreamEnabled ?? false).toBe(false);
});
