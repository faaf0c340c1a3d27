import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { OptimizationKind } from '../../../shared/data/jobs/job.ts';
import { startBatchServer } from '../../local/batch/batch-server.ts';
import { createTables } from '../../local/dynamodb/create-tables.ts';
import { startDynamoDb } from '../../local/dynamodb/start-dynamodb.ts';
import { startS3Server } from '../../local/s3/s3-server.ts';

/** Start emulators for functions. Dispose the returned object to stop them. */
export async function startLocalEmulators(): Promise<LocalEmulators> {
  await using starting = new AsyncDisposableStack();
  const scratch = await mkdtemp(join(tmpdir(), 'mps-emulators-'));
  starting.defer(() => rm(scratch, { recursive: true, force: true, maxRetries: 5 }));
  const dynamoDb = await startDynamoDb();
  starting.defer(() => dynamoDb.close());
  const s3 = await startS3Server({
    folder: join(scratch, 's3'),
    port: 0,
    region,
    credentials,
    buckets: [bucket],
  });
  starting.defer(() => s3.close());
  const batch = await startBatch(join(scratch, 'batch'));
  starting.defer(() => batch.close({ grace: 0 }));
  const client = new DynamoDBClient({ region, credentials, endpoint: dynamoDb.url });
  await createTables(client, Object.values(tables));
  client.destroy();
  const started = starting.move();
  return {
    environment: {
      AWS_REGION: region,
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
      DYNAMODB_ENDPOINT: dynamoDb.url,
      S3_ENDPOINT: s3.url,
      BATCH_ENDPOINT: batch.url,
      BUCKET: bucket,
      LOG_LEVEL: 'error',
      ...tables,
    },
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}

/** New, empty emulators for functions. */
interface LocalEmulators extends AsyncDisposable {
  /** Environment of a function that uses the emulators. */
  environment: Readonly<Record<string, string>>;
}

const region = 'us-east-1';

const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };

const bucket = 'projects';

/** Start a Batch server whose jobs do nothing. */
function startBatch(folder: string) {
  const nothing = {
    command: [process.execPath, '--version'],
    environment: {},
    vcpus: 1,
    memory: 512,
    attempts: 1,
  };
  return startBatchServer({
    folder,
    logFolder: join(folder, 'logs'),
    port: 0,
    region,
    credentials,
    queues: ['train', 'gpu', 'cluster'].map((name) => ({ name, maxJobs: 1 })),
    jobDefinitions: [
      ...['train', 'gpu', ...OptimizationKind.options].map((name) => ({
        ...nothing,
        name,
        type: 'container' as const,
      })),
      { ...nothing, name: 'cluster', type: 'multinode', numNodes: 2 },
    ],
    hostEnvironment: {},
    deliver: async () => {},
  });
}

const tables = { ACCOUNTS_TABLE: 'accounts', RECORDS_TABLE: 'records' };
