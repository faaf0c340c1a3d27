import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Readable } from 'node:stream';
import {
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type RunningS3, startS3Server } from '../../../infra/local/s3/s3-server.ts';
import { seededBytes } from '../../support/seeded-bytes.ts';
import { lacks } from './target.ts';

const randomBytes = seededBytes(37);
const Bucket = 'projects';
const block = 256 * 1024;
const partBytes = 5 * 1024 * 1024;

describe.skipIf(lacks('own-server'))('a stored object', () => {
  let folder: string;
  let server: RunningS3;
  let client: S3Client;
  let logged: string[];

  async function start(): Promise<void> {
    const credentials = { accessKeyId: 'key', secretAccessKey: 'secret' };
    const region = 'us-east-1';
    server = await startS3Server({ folder, port: 0, region, credentials, buckets: [Bucket] });
    client = new S3Client({
      endpoint: server.url,
      region,
      credentials,
      forcePathStyle: true,
      maxAttempts: 1,
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
    });
  }

  async function stop(): Promise<void> {
    client.destroy();
    await server.close();
  }

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 's3-damage-'));
    logged = [];
    vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
      logged.push(String(text));
      return true;
    });
    await start();
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    await stop();
    rmSync(folder, { recursive: true });
  });

  /** The stored file of that many bytes. */
  function fileOf(size: number): string {
    const blobs = join(folder, 'blobs');
    const found = readdirSync(blobs, { recursive: true, encoding: 'utf8' })
      .map((name) => join(blobs, name))
      .find((path) => statSync(path).isFile() && statSync(path).size === size);
    if (found === undefined) throw new Error(`No file of ${size} bytes is stored.`);
    return found;
  }

  /** Flips one bit; a second time puts it back. */
  function flip(size: number, at: number): void {
    const path = fileOf(size);
    const bytes = readFileSync(path);
    bytes.writeUInt8(bytes.readUInt8(at) ^ 0x10, at);
    writeFileSync(path, bytes);
  }

  async function put(Key: string, size: number): Promise<Buffer> {
    const Body = randomBytes(size);
    await client.send(new PutObjectCommand({ Bucket, Key, Body }));
    return Body;
  }

  async function putInParts(Key: string): Promise<Buffer> {
    const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key }));
    const bodies = [randomBytes(partBytes), randomBytes(1000)];
    const Parts = [];
    for (const [index, Body] of bodies.entries()) {
      const part = { Bucket, Key, UploadId, PartNumber: index + 1 };
      const { ETag } = await client.send(new UploadPartCommand({ ...part, Body }));
      Parts.push({ PartNumber: part.PartNumber, ETag });
    }
    await client.send(
      new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload: { Parts } }),
    );
    return Buffer.concat(bodies);
  }

  /** What a request brings: the bytes that came, and how it ended. */
  async function get(Key: string, Range?: string): Promise<{ bytes: Buffer; end: string }> {
    const pieces: Buffer[] = [];
    try {
      const { Body } = await client.send(new GetObjectCommand({ Bucket, Key, ...(Range && { Range }) }));
      for await (const piece of Body as Readable) pieces.push(piece);
      return { bytes: Buffer.concat(pieces), end: 'whole' };
    } catch (error) {
      const end =
        error instanceof Error && error.name === 'InvalidObjectState' ? error.message : 'broken off';
      return { bytes: Buffer.concat(pieces), end };
    }
  }

  const refusal = (key: string) =>
    `The stored bytes of ${Bucket}/${key} are damaged. The object can be uploaded again or deleted.`;

  /** Makes the object one of a release that kept no sums. */
  async function forgetSums(): Promise<void> {
    await stop();
    const index = new DatabaseSync(join(folder, 'index.sqlite'));
    index.exec('DELETE FROM sums');
    index.close();
    await start();
  }

  test('with a flipped bit is refused by name, and logged once', async () => {
    await put('small', 1000);
    flip(1000, 500);
    expect(await get('small')).toEqual({ bytes: Buffer.alloc(0), end: refusal('small') });
    expect(await get('small')).toEqual({ bytes: Buffer.alloc(0), end: refusal('small') });
    expect(logged).toHaveLength(1);
    expect(logged[0]).toContain(
      `"${Bucket}/small" is damaged: ${fileOf(1000)} differs from the stored bytes`,
    );
    await expect(client.send(new GetObjectCommand({ Bucket, Key: 'small' }))).rejects.toMatchObject({
      $metadata: { httpStatusCode: 403 },
    });
  });

  test('breaks off before the block with the flipped bit, and is refused from then on', async () => {
    const body = await put('large', 8 * block + 100);
    flip(body.length, 6 * block + 5);
    const { bytes, end } = await get('large');
    expect(end).toBe('broken off');
    expect(bytes.length).toBeLessThanOrEqual(6 * block);
    expect(bytes.equals(body.subarray(0, bytes.length))).toBe(true);
    expect((await get('large')).end).toBe(refusal('large'));
    expect((await get('large', 'bytes=0-9')).end).toBe(refusal('large'));
    expect(logged.join('')).toContain(`between bytes ${6 * block} and ${7 * block - 1}`);
  });

  test('gives ranges of other blocks until the damage is found', async () => {
    const body = await put('ranges', 3 * block);
    flip(body.length, block + 5);
    const good = await get('ranges', `bytes=${2 * block}-${2 * block + 9}`);
    expect(good).toEqual({ bytes: body.subarray(2 * block, 2 * block + 10), end: 'whole' });
    const around = await get('ranges', `bytes=${block + 100}-${block + 109}`);
    expect(around).toEqual({ bytes: Buffer.alloc(0), end: refusal('ranges') });
  });

  test.each([0, 1, block - 1, block, block + 1, 3 * block])(
    'of %i bytes comes whole, and in ranges',
    async (size) => {
      const body = await put('sizes', size);
      expect(await get('sizes')).toEqual({ bytes: body, end: 'whole' });
      if (size < 2) return;
      const middle = Math.floor(size / 2);
      expect((await get('sizes', `bytes=1-${middle}`)).bytes.equals(body.subarray(1, middle + 1))).toBe(true);
      expect((await get('sizes', 'bytes=-1')).bytes.equals(body.subarray(size - 1))).toBe(true);
    },
  );

  test('is healed by another upload, and can be deleted', async () => {
    await put('healed', 1000);
    flip(1000, 0);
    await get('healed');
    const body = await put('healed', 1001);
    expect(await get('healed')).toEqual({ bytes: body, end: 'whole' });
    flip(1001, 0);
    expect((await get('healed')).end).toBe(refusal('healed'));
    await client.send(new HeadObjectCommand({ Bucket, Key: 'healed' }));
    await client.send(new DeleteObjectCommand({ Bucket, Key: 'healed' }));
    await put('other', 10);
    await stop();
    const index = new DatabaseSync(join(folder, 'index.sqlite'), { readOnly: true });
    expect(index.prepare('SELECT count(*) AS n FROM damaged').get()).toEqual({ n: 0 });
    expect(index.prepare('SELECT count(*) AS n FROM sums').get()).toEqual({ n: 1 });
    index.close();
    await start();
  });

  test('is read again once its file has been put back', async () => {
    const body = await put('back', 1000);
    flip(1000, 7);
    expect((await get('back')).end).toBe(refusal('back'));
    flip(1000, 7);
    expect(await get('back')).toEqual({ bytes: body, end: 'whole' });
  });

  test('is refused where its file is cut short or missing', async () => {
    await put('short', 2000);
    truncateSync(fileOf(2000), 1500);
    expect((await get('short')).end).toBe(refusal('short'));
    await put('missing', 3000);
    rmSync(fileOf(3000));
    expect((await get('missing')).end).toBe(refusal('missing'));
  });

  test('of several parts is compared in each of them, and so are copies of it', async () => {
    const body = await putInParts('parts');
    await client.send(new CopyObjectCommand({ Bucket, Key: 'copy', CopySource: `${Bucket}/parts` }));
    expect((await get('copy')).bytes.equals(body)).toBe(true);
    flip(1000, 999);
    expect((await get('parts', `bytes=${partBytes}-${partBytes}`)).end).toBe(refusal('parts'));
    expect((await get('copy')).end).toBe(refusal('copy'));
    const copied = client.send(
      new CopyObjectCommand({ Bucket, Key: 'again', CopySource: `${Bucket}/parts` }),
    );
    await expect(copied).rejects.toThrow(refusal('parts'));
  });

  test('is not copied into a part where it is damaged', async () => {
    const body = await put('source', 2 * block);
    flip(body.length, block);
    const upload = { Bucket, Key: 'target' };
    const { UploadId } = await client.send(new CreateMultipartUploadCommand(upload));
    const part = { ...upload, UploadId, PartNumber: 1, CopySource: `${Bucket}/source` };
    await expect(client.send(new UploadPartCopyCommand(part))).rejects.toThrow(refusal('source'));
  });

  test('of a release without sums is compared with its ETag, and gets its sums when it is read whole', async () => {
    const body = await put('old', 2 * block);
    const inParts = await putInParts('old parts');
    await forgetSums();
    expect((await get('old')).bytes.equals(body)).toBe(true);
    expect((await get('old parts')).bytes.equals(inParts)).toBe(true);
    flip(body.length, block);
    flip(1000, 0);
    expect((await get('old', `bytes=${block}-${block}`)).end).toBe(refusal('old'));
    expect((await get('old parts', `bytes=${partBytes}-`)).end).toBe(refusal('old parts'));
  });

  test('of a release without sums never arrives whole where it is damaged', async () => {
    const body = await put('old', 2 * block);
    const inParts = await putInParts('old parts');
    await put('old and short', 1500);
    await forgetSums();
    flip(body.length, 0);
    flip(partBytes, 0);
    truncateSync(fileOf(1500), 1000);
    expect(await get('old')).toMatchObject({ end: 'broken off' });
    expect((await get('old')).end).toBe(refusal('old'));
    const parts = await get('old parts');
    expect(parts.end).toBe('broken off');
    expect(parts.bytes.length).toBeLessThan(inParts.length);
    expect((await get('old and short')).end).toBe(refusal('old and short'));
  });
});
