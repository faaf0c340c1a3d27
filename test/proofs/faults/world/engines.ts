import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { startDynamoDb } from '../../../../infra/local/dynamodb/start-dynamodb.ts';
import { startS3Server } from '../../../../infra/local/s3/s3-server.ts';

export const credentials = { accessKeyId: 'test', secretAccessKey: 'test-secret' };
export const region = 'eu-central-1';
/** A bucket for each of so many services at once. */
const buckets = ['faults-0', 'faults-1', 'faults-2', 'faults-3'];

export interface Engines {
  dynamoDbUrl: string;
  s3Url: string;
  bucket: string;
}

/** The same engines with a bucket of its own for each of at most four services. */
export const sharesOf = (engines: Engines, count: number): Engines[] =>
  buckets.slice(0, count).map((bucket) => ({ ...engines, bucket }));

/** Storage engines of a proof's own, in `folder`; with `recordsFile` the tables are in that file, else in memory. */
export async function startStores(
  started: AsyncDisposableStack,
  folder: string,
  recordsFile?: string,
): Promise<Engines> {
  Object.assign(process.env, {
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
  });
  await mkdir(folder, { recursive: true });
  const dynamoDb = await startDynamoDb(recordsFile);
  started.defer(() => dynamoDb.close());
  const s3 = await startS3Server({
    folder: join(folder, 's3'),
    port: 0,
    region,
    credentials,
    buckets,
  });
  started.defer(() => s3.close());
  return { dynamoDbUrl: dynamoDb.url, s3Url: s3.url, bucket: buckets[0] ?? '' };
}
