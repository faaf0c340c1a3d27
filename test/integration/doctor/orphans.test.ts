import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import { ulid } from 'ulid';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTables } from '../../../infra/local/dynamodb/create-tables.ts';
import { startDynamoDb } from '../../../infra/local/dynamodb/start-dynamodb.ts';
import { startS3Server } from '../../../infra/local/s3/s3-server.ts';
import { emulatorCredentials, openDataFolder } from '../../../infra/local/start/data-folder.ts';
import { accountsTable, bucket, recordsTable } from '../../../infra/local/start/function-environment.ts';
import { jobFolders } from '../../../infra/local/start/job-folders.ts';
import { everySample } from '../../support/samples.ts';

const region = 'us-east-1';
const project_id = ulid().toLowerCase();
const strayItem = `CONFIGS#${project_id}/train.yaml`;
const strayObject = `projects/${project_id}/source/a\u001b[2Jb`;
let folder: string;

/** A data folder with tables and a bucket, as `npm start` makes it; `fill` may leave something there. */
async function prepare(
  name: string,
  fill: (stores: { tables: DynamoDBDocumentClient; objects: S3Client }) => Promise<void>,
): Promise<string> {
  const path = join(folder, name);
  await using stack = new AsyncDisposableStack();
  const data = await openDataFolder(path);
  stack.defer(() => data.release());
  await mkdir(data.within('dynamodb'));
  const credentials = await emulatorCredentials(data);
  const dynamoDb = await startDynamoDb(data.within('dynamodb/records.db'));
  stack.defer(() => dynamoDb.close());
  const s3 = await startS3Server({
    folder: data.within('s3'),
    port: 0,
    region,
    credentials,
    buckets: [bucket],
  });
  stack.defer(() => s3.close());
  const client = new DynamoDBClient({ region, credentials, endpoint: dynamoDb.url });
  const objects = new S3Client({ region, credentials, endpoint: s3.url, forcePathStyle: true });
  await createTables(client, [accountsTable, recordsTable]);
  await fill({ tables: DynamoDBDocumentClient.from(client), objects });
  client.destroy();
  objects.destroy();
  return path;
}

function doctor(...flags: string[]): Promise<{ code: number; out: string; error: string }> {
  const program = join(import.meta.dirname, '../../../infra/aws/doctor/main.ts');
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [program, ...flags], (_, out, error) =>
      resolve({ code: child.exitCode ?? -1, out, error }),
    );
  });
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mps-doctor-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('the doctor, asked for orphans in a data folder', () => {
  test('finds none where there is nothing', async () => {
    const { code, out } = await doctor('--orphans', '--local', await prepare('empty', async () => {}));
    expect({ code, out }).toEqual({
      code: 0,
      out: 'No leftovers: all 0 items and 0 objects have an owner.\n',
    });
  });

  test('tells each with its reason and what to do, and answers 1', async () => {
    const path = await prepare('stray', async ({ tables, objects }) => {
      const [pk, sk] = strayItem.split('/');
      await tables.send(new PutCommand({ TableName: recordsTable, Item: { pk, sk, record_type: 'config' } }));
      await tables.send(
        new PutCommand({
          TableName: recordsTable,
          Item: { pk: 'LIMITS', sk: `USER#${project_id}`, unfinished: 3 },
        }),
      );
      await objects.send(new PutObjectCommand({ Bucket: bucket, Key: strayObject, Body: 'x' }));
    });
    const { code, out } = await doctor('--orphans', '--local', path);
    expect(code).toBe(1);
    const lines = out.split('\n');
    expect(lines[0]).toBe('Found among 2 items and 1 objects: 4');
    expect(lines).toContainEqual(
      expect.stringMatching(new RegExp(`^ {2}orphan +${strayItem} +there is no project ${project_id}$`)),
    );
    expect(out).toContain(`orphan      projects/${project_id}/source/a?[2Jb`);
    expect(out).toMatch(/count +LIMITS\/USER#\w+ +unfinished is 3, but there are 0/);
    expect(out).toMatch(/unreadable +CONFIGS#/);
    expect(out).toContain('orphan (2): delete the item or object');
    expect(out).toContain('count (1): set the attribute');
  });

  test('tells what killed runs and deleted projects have left on the disk', async () => {
    const path = await prepare('folders', async () => {});
    const data = await openDataFolder(path);
    const { work, environments } = await jobFolders(data);
    data.release();
    await mkdir(join(work, 'train-1-abc/output'), { recursive: true });
    await mkdir(join(environments, `${project_id}/lib`), { recursive: true });
    const open = await doctor('--orphans', '--local', path);
    expect(open.code).toBe(1);
    expect(open.out).toMatch(/folder +\S*work\/train-1-abc +its run has ended \(/);
    expect(open.out).toMatch(new RegExp(`environments/${project_id} +there is no project ${project_id} \\(`));
  });

  test.runIf(everySample)('says what is wrong with the folder', async () => {
    const missing = await doctor('--orphans', '--local', join(folder, 'nowhere'));
    expect(missing).toMatchObject({ code: 1, error: expect.stringContaining('There is no data folder') });
    const path = await prepare('used', async () => {});
    const data = await openDataFolder(path);
    const used = await doctor('--orphans', '--local', path);
    data.release();
    expect(used).toMatchObject({ code: 1, error: expect.stringContaining('is in use by another service') });
  });

  test.runIf(everySample)('takes no other flags', async () => {
    const unknown = await doctor('--orphan');
    expect(unknown).toMatchObject({ code: 1, error: expect.stringContaining('Usage: npm run doctor') });
    expect(await doctor('--local', folder)).toMatchObject({ code: 1 });
  });
});
