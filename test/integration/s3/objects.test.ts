import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import {
  CopyObjectCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { afterAll, describe, expect, test } from 'vitest';
import { seededBytes } from '../../support/seeded-bytes.ts';
import { lacks, openTarget } from './target.ts';

const randomBytes = seededBytes(11);

const target = await openTarget();
const { client, bucket: Bucket, key } = target;
afterAll(() => target.close());

const read = async (Key: string) => {
  const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }));
  return Buffer.from(await Body!.transformToByteArray());
};

describe('puts', () => {
  test('a buffer comes back as it was, with its MD5 as ETag', async () => {
    const Body = randomBytes(70_000);
    const { ETag } = await client.send(new PutObjectCommand({ Bucket, Key: key('buffer'), Body }));
    expect(ETag).toBe(`"${createHash('md5').update(Body).digest('hex')}"`);
    expect((await read(key('buffer'))).equals(Body)).toBe(true);
  });

  test('a stream comes back without the framing it was sent in', async () => {
    const pieces = [randomBytes(65_536), randomBytes(3), randomBytes(900_000), Buffer.from('\r\n0\r\n\r\n')];
    const ContentLength = pieces.reduce((sum, piece) => sum + piece.length, 0);
    const Body = Readable.from(pieces);
    await client.send(new PutObjectCommand({ Bucket, Key: key('stream'), Body, ContentLength }));
    expect((await read(key('stream'))).equals(Buffer.concat(pieces))).toBe(true);
  });

  test('an empty object is an object', async () => {
    await client.send(new PutObjectCommand({ Bucket, Key: key('empty'), Body: Buffer.alloc(0) }));
    expect((await read(key('empty'))).length).toBe(0);
  });

  test('the last of several puts to a key is what is read', async () => {
    const bodies = ['first', 'second, which is longer', '3'];
    for (const Body of bodies) {
      await client.send(new PutObjectCommand({ Bucket, Key: key('again'), Body }));
    }
    expect((await read(key('again'))).toString()).toBe('3');
  });

  test.each([
    '../../../../etc/passwd',
    'a//b/./c/../d',
    'space and +plus%25&?=#;:@$,',
    'ünïcödé/日本語/🦆',
    `long/${'x'.repeat(900)}`,
    'quote"\'<&>`\\|',
    'CON.txt:stream',
  ])('the key %s is only a key', async (name) => {
    await client.send(new PutObjectCommand({ Bucket, Key: key(name), Body: name }));
    expect((await read(key(name))).toString()).toBe(name);
  });
});

describe('metadata', () => {
  test('headers and user metadata are kept and returned', async () => {
    const kept = {
      ContentType: 'text/plain; charset=utf-8',
      ContentEncoding: 'identity',
      ContentDisposition: 'attachment; filename="a.txt"',
      CacheControl: 'max-age=60',
      Metadata: { version: '7', note: 'two words' },
    };
    const Body = Readable.from(['x']);
    await client.send(new PutObjectCommand({ Bucket, Key: key('meta'), Body, ContentLength: 1, ...kept }));
    const head = await client.send(new HeadObjectCommand({ Bucket, Key: key('meta') }));
    expect(head).toMatchObject({ ...kept, ContentLength: 1, AcceptRanges: 'bytes' });
    expect(head.LastModified).toBeInstanceOf(Date);
  });

  test.skipIf(lacks('invalid-arguments'))('more metadata than S3 takes is refused', async () => {
    const command = new PutObjectCommand({
      Bucket,
      Key: key('heavy'),
      Body: 'x',
      Metadata: { m: 'm'.repeat(2100) },
    });
    await expect(client.send(command)).rejects.toMatchObject({ name: 'MetadataTooLarge' });
  });
});

describe('reads', () => {
  test.each([
    ['bytes=0-0', '0', 'bytes 0-0/10'],
    ['bytes=3-5', '345', 'bytes 3-5/10'],
    ['bytes=7-', '789', 'bytes 7-9/10'],
    ['bytes=-2', '89', 'bytes 8-9/10'],
    ['bytes=5-500', '56789', 'bytes 5-9/10'],
    ['bytes=-500', '0123456789', 'bytes 0-9/10'],
  ])('range %s', async (Range, expected, ContentRange) => {
    await client.send(new PutObjectCommand({ Bucket, Key: key('range'), Body: '0123456789' }));
    const answer = await client.send(new GetObjectCommand({ Bucket, Key: key('range'), Range }));
    expect(answer.$metadata.httpStatusCode).toBe(206);
    expect(answer.ContentRange).toBe(ContentRange);
    expect(await answer.Body!.transformToString()).toBe(expected);
  });

  test('a range beyond the end is refused', async () => {
    await client.send(new PutObjectCommand({ Bucket, Key: key('short'), Body: 'abc' }));
    const command = new GetObjectCommand({ Bucket, Key: key('short'), Range: 'bytes=3-9' });
    await expect(client.send(command)).rejects.toMatchObject({
      name: 'InvalidRange',
      $metadata: { httpStatusCode: 416 },
    });
  });

  test('conditions answer 304 and 412', async () => {
    const { ETag } = await client.send(new PutObjectCommand({ Bucket, Key: key('cond'), Body: 'abc' }));
    const get = (conditions: object) =>
      client.send(new GetObjectCommand({ Bucket, Key: key('cond'), ...conditions }));
    const status = (httpStatusCode: number) => ({ $metadata: { httpStatusCode } });
    await expect(get({ IfNoneMatch: ETag })).rejects.toMatchObject(status(304));
    await expect(get({ IfMatch: '"other"' })).rejects.toMatchObject(status(412));
    await expect(get({ IfModifiedSince: new Date() })).rejects.toMatchObject(status(304));
    await expect(get({ IfUnmodifiedSince: new Date(0) })).rejects.toMatchObject(status(412));
    const answer = await get({ IfMatch: ETag, IfNoneMatch: '"other"' });
    expect(await answer.Body!.transformToString()).toBe('abc');
  });

  test('what does not exist is named', async () => {
    const missing = { name: 'NoSuchKey', $metadata: { httpStatusCode: 404 } };
    const get = new GetObjectCommand({ Bucket, Key: key('missing') });
    await expect(client.send(get)).rejects.toMatchObject(missing);
    const head = new HeadObjectCommand({ Bucket, Key: key('missing') });
    await expect(client.send(head)).rejects.toMatchObject({ name: 'NotFound' });
    const elsewhere = new GetObjectCommand({ Bucket: 'no-such-bucket', Key: 'x' });
    await expect(client.send(elsewhere)).rejects.toMatchObject({ name: 'NoSuchBucket' });
    await expect(client.send(new HeadBucketCommand({ Bucket: 'no-such-bucket' }))).rejects.toMatchObject({
      $metadata: { httpStatusCode: 404 },
    });
    expect((await client.send(new HeadBucketCommand({ Bucket }))).$metadata.httpStatusCode).toBe(200);
  });
});

describe('copy and delete', () => {
  test('a copy has the bytes and metadata, and lives on without its source', async () => {
    const [Key, to] = [key('copy/søurce +'), key('copy/target')];
    const Metadata = { a: '1' };
    await client.send(new PutObjectCommand({ Bucket, Key, Body: 'copied', Metadata, ContentType: 'text/x' }));
    const CopySource = `${Bucket}/${encodeURIComponent(Key)}`;
    const { CopyObjectResult } = await client.send(new CopyObjectCommand({ Bucket, Key: to, CopySource }));
    await client.send(new DeleteObjectCommand({ Bucket, Key }));
    const head = await client.send(new HeadObjectCommand({ Bucket, Key: to }));
    expect(head).toMatchObject({ Metadata, ContentType: 'text/x', ETag: CopyObjectResult!.ETag });
    expect((await read(to)).toString()).toBe('copied');
  });

  test('a copy may replace the metadata, also onto itself', async () => {
    const Key = key('copy/self');
    await client.send(new PutObjectCommand({ Bucket, Key, Body: 'self', Metadata: { a: '1' } }));
    const CopySource = `${Bucket}/${Key}`;
    const plain = new CopyObjectCommand({ Bucket, Key, CopySource });
    await expect(client.send(plain)).rejects.toMatchObject({ name: 'InvalidRequest' });
    const replacing = { MetadataDirective: 'REPLACE', Metadata: { b: '2' } } as const;
    await client.send(new CopyObjectCommand({ Bucket, Key, CopySource, ...replacing }));
    expect((await client.send(new HeadObjectCommand({ Bucket, Key }))).Metadata).toEqual({ b: '2' });
    expect((await read(Key)).toString()).toBe('self');
  });

  test('copying what does not exist is refused', async () => {
    const command = new CopyObjectCommand({
      Bucket,
      Key: key('copy/none'),
      CopySource: `${Bucket}/${key('gone')}`,
    });
    await expect(client.send(command)).rejects.toMatchObject({ name: 'NoSuchKey' });
  });

  test('deleting succeeds whether or not the key was there', async () => {
    await client.send(new PutObjectCommand({ Bucket, Key: key('del'), Body: 'x' }));
    for (let time = 0; time < 2; time += 1) {
      const { $metadata } = await client.send(new DeleteObjectCommand({ Bucket, Key: key('del') }));
      expect($metadata.httpStatusCode).toBe(204);
    }
    await expect(read(key('del'))).rejects.toMatchObject({ name: 'NoSuchKey' });
  });

  test('many are deleted at once, with the outcome for each', async () => {
    const names = ['1', '2 & <3>', 'ü\u{1F986}'].map((name) => key(`many/${name}`));
    for (const Key of names) await client.send(new PutObjectCommand({ Bucket, Key, Body: Key }));
    const Objects = [...names, key('many/absent')].map((Key) => ({ Key }));
    const { Deleted, Errors } = await client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } }));
    expect(Deleted!.map(({ Key }) => Key).sort()).toEqual(Objects.map(({ Key }) => Key).sort());
    expect(Errors).toBeUndefined();
    await expect(read(names[2]!)).rejects.toMatchObject({ name: 'NoSuchKey' });
  });

  test.skipIf(lacks('invalid-arguments'))('more than a thousand at once are refused', async () => {
    const Objects = Array.from({ length: 1001 }, (_, index) => ({ Key: `k${index}` }));
    const command = new DeleteObjectsCommand({ Bucket, Delete: { Objects } });
    await expect(client.send(command)).rejects.toMatchObject({ name: 'MalformedXML' });
  });
});
