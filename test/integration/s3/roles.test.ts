import {
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  ListPartsCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bucketArn } from '../../../infra/local/access/is-allowed.ts';
import { sessionCredentials } from '../../../infra/local/access/session-credentials.ts';
import { roleStatements, type Statement } from '../../../infra/service/iam-statements.ts';
import { readObjects, writeObjects } from '../../../shared/aws/needs.ts';
import { type Need, within } from '../../../shared/core/needs.ts';
import { lacks, openTarget, type Target } from './target.ts';

describe.skipIf(lacks('own-server'))('requests in a role', () => {
  let target: Target;
  let Bucket: string;
  const clients: S3Client[] = [];
  beforeAll(async () => {
    target = await openTarget();
    Bucket = target.bucket;
    for (const Key of ['models/a', 'projects/a', 'projects/b'])
      await target.client.send(new PutObjectCommand({ Bucket, Key, Body: Key }));
  });
  afterAll(async () => {
    for (const client of clients) client.destroy();
    await target.close();
  });

  function acting(statements: readonly Statement[]): S3Client {
    const client = target.clientWith({ credentials: sessionCredentials(target.credentials, statements) });
    clients.push(client);
    return client;
  }
  const statementsFor = (...needs: Need<unknown>[]) =>
    roleStatements(needs, {
      accounts: '',
      records: '',
      bucket: bucketArn(Bucket),
      submissions: [],
      jobs: [],
      deployment: '',
    });
  const models = { prefixes: ['models/'] };
  const projects = { prefixes: ['projects/'] };
  const status = (asked: Promise<unknown>): Promise<number | undefined> =>
    asked.then(
      () => 200,
      (error) => error.$metadata.httpStatusCode,
    );

  test('may do what its statements allow, on their resources alone', async () => {
    const client = acting(statementsFor(within(readObjects, models)));
    expect(await status(client.send(new GetObjectCommand({ Bucket, Key: 'models/a' })))).toBe(200);
    expect(await status(client.send(new GetObjectCommand({ Bucket, Key: 'projects/a' })))).toBe(403);
    expect(await status(client.send(new PutObjectCommand({ Bucket, Key: 'models/b', Body: '' })))).toBe(403);
    expect(await status(client.send(new DeleteObjectCommand({ Bucket, Key: 'models/a' })))).toBe(403);
    await expect(client.send(new GetObjectCommand({ Bucket, Key: 'projects/a' }))).rejects.toThrow(
      `not authorized to perform: s3:GetObject on resource: arn:aws:s3:::${Bucket}/projects/a`,
    );
  });

  test('are told 404 of an object that is missing only where they may list the bucket without a prefix', async () => {
    const missing = { Bucket, Key: 'models/missing' };
    const statements = statementsFor(within(readObjects, models));
    const strict = statements.map(({ conditions, ...rest }) => ({
      ...rest,
      ...(conditions && { conditions: { StringLike: { 's3:prefix': ['models/*'] } } }),
    }));
    for (const command of [new GetObjectCommand(missing), new HeadObjectCommand(missing)]) {
      expect(await status(acting(statements).send(command))).toBe(404);
      expect(await status(acting(strict).send(command))).toBe(403);
    }
    await expect(acting(strict).send(new HeadObjectCommand(missing))).rejects.not.toThrow('authorized');
  });

  test('list what their prefixes cover', async () => {
    const client = acting(statementsFor(within(readObjects, models)));
    expect(await status(client.send(new ListObjectsV2Command({ Bucket, Prefix: 'models/' })))).toBe(200);
    expect(await status(client.send(new ListObjectsV2Command({ Bucket, Prefix: 'projects/' })))).toBe(403);
  });

  test('copy from what they may read to what they may write', async () => {
    const copy = new CopyObjectCommand({ Bucket, Key: 'models/copy', CopySource: `${Bucket}/projects/a` });
    const writer = within(writeObjects, models);
    expect(await status(acting(statementsFor(writer)).send(copy))).toBe(403);
    const both = statementsFor(writer, within(readObjects, projects));
    expect(await status(acting(both).send(copy))).toBe(200);
  });

  test('delete of many objects those that they may', async () => {
    const client = acting(statementsFor(within(writeObjects, models)));
    await target.client.send(new PutObjectCommand({ Bucket, Key: 'models/gone', Body: '' }));
    const Objects = [{ Key: 'models/gone' }, { Key: 'projects/b' }];
    const { Errors, Deleted } = await client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } }));
    expect(Errors).toMatchObject([{ Key: 'projects/b', Code: 'AccessDenied' }]);
    expect(Deleted).toMatchObject([{ Key: 'models/gone' }]);
    expect(await status(target.client.send(new HeadObjectCommand({ Bucket, Key: 'projects/b' })))).toBe(200);
  });

  test('join an upload that another role began only where they may list its parts', async () => {
    const Key = 'models/parts';
    const statements = statementsFor(within(writeObjects, models));
    const { UploadId } = await target.client.send(new CreateMultipartUploadCommand({ Bucket, Key }));
    const without = statements.map(({ actions, ...rest }) => ({
      ...rest,
      actions: actions.filter((action) => action !== 's3:ListMultipartUploadParts'),
    }));
    const parts = new ListPartsCommand({ Bucket, Key, UploadId });
    expect(await status(acting(without).send(parts))).toBe(403);
    expect(await status(acting(statements).send(parts))).toBe(200);
    const join = new CompleteMultipartUploadCommand({
      Bucket,
      Key,
      UploadId,
      MultipartUpload: { Parts: [] },
    });
    expect(await status(acting(statementsFor(within(readObjects, models))).send(join))).toBe(403);
  });

  test('by presigned URL are those of who signed it', async () => {
    const client = acting(statementsFor(within(readObjects, models)));
    const get = async (Key: string) =>
      fetch(await getSignedUrl(client, new GetObjectCommand({ Bucket, Key })));
    expect(await (await get('models/a')).text()).toBe('models/a');
    expect((await get('projects/a')).status).toBe(403);
  });

  test('in a role that somebody made up are refused', async () => {
    const [mine, all] = [statementsFor(within(readObjects, models)), statementsFor(writeObjects)];
    const { sessionToken } = sessionCredentials(target.credentials, all);
    const forged = { ...sessionCredentials(target.credentials, mine), sessionToken };
    for (const credentials of [forged, { ...forged, sessionToken: 'none' }]) {
      const client = target.clientWith({ credentials });
      clients.push(client);
      await expect(client.send(new GetObjectCommand({ Bucket, Key: 'projects/a' }))).rejects.toMatchObject({
        name: credentials === forged ? 'SignatureDoesNotMatch' : 'InvalidToken',
      });
    }
  });
});
