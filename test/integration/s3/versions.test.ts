import { randomBytes } from 'node:crypto';
import {
  CreateMultipartUploadCommand,
  DeleteBucketCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectVersionsCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { afterAll, expect, test } from 'vitest';
import { emptyBucket } from '../../../infra/aws/deploy/empty-bucket.ts';
import { openTarget } from './target.ts';

const target = await openTarget();
const { client } = target;
afterAll(() => target.close());

/** A bucket of this test's own, made by whoever serves it. */
const versioned = async () => {
  const Bucket = await target.newBucket(`versions-${randomBytes(4).toString('hex')}`);
  await client.send(
    new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status: 'Enabled' } }),
  );
  return Bucket;
};
const put = (Bucket: string, Key: string, Body: string) =>
  client.send(new PutObjectCommand({ Bucket, Key, Body }));
const read = async (Bucket: string, Key: string) => {
  const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }));
  return Body?.transformToString();
};

test('what is overwritten or deleted stays as a version, and comes back when the later ones go', async () => {
  const Bucket = await versioned();
  await put(Bucket, 'a', 'first');
  await put(Bucket, 'a', 'second');
  await client.send(new DeleteObjectCommand({ Bucket, Key: 'a' }));
  await expect(read(Bucket, 'a')).rejects.toMatchObject({ name: 'NoSuchKey' });
  const listed = await client.send(new ListObjectVersionsCommand({ Bucket }));
  expect(listed.Versions?.map(({ Size, IsLatest }) => [Size, IsLatest])).toEqual([
    [6, false],
    [5, false],
  ]);
  expect(listed.DeleteMarkers).toMatchObject([{ Key: 'a', IsLatest: true }]);
  const [marker] = listed.DeleteMarkers ?? [];
  await client.send(new DeleteObjectCommand({ Bucket, Key: 'a', VersionId: marker?.VersionId }));
  expect(await read(Bucket, 'a')).toBe('second');
  const [second] = listed.Versions ?? [];
  await client.send(new DeleteObjectCommand({ Bucket, Key: 'a', VersionId: second?.VersionId }));
  expect(await read(Bucket, 'a')).toBe('first');
});

test('versions are listed page by page, in the order of keys, the latest of a key first', async () => {
  const Bucket = await versioned();
  for (const key of ['b', 'a', 'c']) for (const body of ['1', '22', '333']) await put(Bucket, key, body);
  const seen: string[] = [];
  let marker: { KeyMarker?: string | undefined; VersionIdMarker?: string | undefined } = {};
  for (;;) {
    const page = await client.send(new ListObjectVersionsCommand({ Bucket, MaxKeys: 2, ...marker }));
    for (const { Key, Size } of page.Versions ?? []) seen.push(`${Key}${Size}`);
    expect(page.Versions?.length).toBeLessThanOrEqual(2);
    if (page.IsTruncated !== true) break;
    marker = { KeyMarker: page.NextKeyMarker, VersionIdMarker: page.NextVersionIdMarker };
  }
  expect(seen).toEqual(['a3', 'a2', 'a1', 'b3', 'b2', 'b1', 'c3', 'c2', 'c1']);
});

test('what was there before has the version "null"', async () => {
  const Bucket = await target.newBucket(`versions-${randomBytes(4).toString('hex')}`);
  await put(Bucket, 'old', 'x');
  const plain = await client.send(new ListObjectVersionsCommand({ Bucket }));
  expect(plain.Versions).toMatchObject([{ Key: 'old', VersionId: 'null', IsLatest: true }]);
  await client.send(
    new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status: 'Enabled' } }),
  );
  await put(Bucket, 'old', 'y');
  const { Versions } = await client.send(new ListObjectVersionsCommand({ Bucket }));
  expect(Versions?.map(({ VersionId }) => VersionId)).toEqual([expect.not.stringMatching(/^null$/), 'null']);
});

test('a bucket with versions, markers and unfinished uploads is deleted only after it was emptied', async () => {
  const Bucket = await versioned();
  const { UploadId } = await client.send(
    new CreateMultipartUploadCommand({ Bucket, Key: 'large', ChecksumAlgorithm: 'CRC32' }),
  );
  await client.send(new UploadPartCommand({ Bucket, Key: 'large', UploadId, PartNumber: 1, Body: 'part' }));
  for (let index = 0; index < 30; index += 1) {
    await put(Bucket, `key ${index}`, 'one');
    await put(Bucket, `key ${index}`, 'two');
    await client.send(new DeleteObjectCommand({ Bucket, Key: `key ${index}` }));
  }
  await expect(client.send(new DeleteBucketCommand({ Bucket }))).rejects.toMatchObject({
    name: 'BucketNotEmpty',
  });
  const reports: number[] = [];
  const removed = await emptyBucket(client, Bucket, ({ versions }) => reports.push(versions), 20);
  expect(removed).toEqual({ versions: 90, uploads: 1 });
  expect(reports.slice(0, 5)).toEqual([20, 40, 60, 80, 90]);
  await client.send(new DeleteBucketCommand({ Bucket }));
});

test('an emptying that was interrupted goes on where it ended', async () => {
  const Bucket = await versioned();
  for (let index = 0; index < 25; index += 1) await put(Bucket, `key ${index}`, 'x');
  const interrupted = emptyBucket(
    client,
    Bucket,
    () => {
      throw new Error('the terminal was closed');
    },
    10,
  );
  await expect(interrupted).rejects.toThrow('the terminal was closed');
  expect(await emptyBucket(client, Bucket, () => {}, 10)).toEqual({ versions: 15, uploads: 0 });
  await client.send(new DeleteBucketCommand({ Bucket }));
});
