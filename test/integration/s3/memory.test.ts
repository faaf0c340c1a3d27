import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  PutObjectCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { everySample } from '../../support/samples.ts';
import { childBucket as Bucket, type ChildServer, memory, startChild } from './child-server.ts';
import { lacks } from './target.ts';

const mebibyte = 1024 * 1024;
const totalMebibytes = 120;
const partMebibytes = 20;
const maxGrowth = 100 * mebibyte;

const unmeasurable = !existsSync('/proc/self/status');
if (unmeasurable) console.warn('Memory is not measured: this platform has no /proc.');

let folder: string;
let server: ChildServer;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 's3-memory-'));
  server = await startChild(folder);
  // What the first request loads and compiles is not growth.
  await server.client.send(new PutObjectCommand({ Bucket, Key: 'warm', Body: Buffer.alloc(mebibyte) }));
});
afterAll(async () => {
  await server.kill();
  rmSync(folder, { recursive: true });
});

/** Mebibytes `first` to `last` of an endless, never repeating body, a mebibyte at a time. */
function* mebibytes(first: number, last: number): Generator<Buffer> {
  for (let index = first; index < last; index += 1) {
    const block = Buffer.alloc(mebibyte, index % 251);
    block.writeUInt32BE(index, 0);
    yield block;
  }
}

async function expectWhole(Key: string): Promise<void> {
  const expected = createHash('sha256');
  for (const block of mebibytes(0, totalMebibytes)) expected.update(block);
  const { Body, ContentLength } = await server.client.send(new GetObjectCommand({ Bucket, Key }));
  const actual = createHash('sha256');
  for await (const piece of Body as Readable) actual.update(piece);
  expect(ContentLength).toBe(totalMebibytes * mebibyte);
  expect(actual.digest('hex')).toBe(expected.digest('hex'));
}

describe.skipIf(lacks('own-server') || unmeasurable)('120 MB pass through in under 100 MB', () => {
  test.runIf(everySample)('as a single streamed put, and read again', async () => {
    const before = await memory(server, 'VmRSS');
    const Body = Readable.from(mebibytes(0, totalMebibytes));
    await server.client.send(
      new PutObjectCommand({ Bucket, Key: 'single', Body, ContentLength: totalMebibytes * mebibyte }),
    );
    await expectWhole('single');
    expect((await memory(server, 'VmHWM')) - before).toBeLessThan(maxGrowth);
  });

  test.runIf(everySample)('as a multipart upload, three parts at a time, and read again', async () => {
    const before = await memory(server, 'VmRSS');
    const upload = { Bucket, Key: 'multipart' };
    const { UploadId } = await server.client.send(
      new CreateMultipartUploadCommand({
        ...upload,
        ChecksumAlgorithm: 'CRC32',
        ChecksumType: 'FULL_OBJECT',
      }),
    );
    const parts: { PartNumber: number; ETag: string | undefined }[] = [];
    const numbers = Array.from({ length: totalMebibytes / partMebibytes }, (_, index) => index + 1);
    const worker = async () => {
      for (let PartNumber = numbers.shift(); PartNumber !== undefined; PartNumber = numbers.shift()) {
        const Body = Readable.from(mebibytes((PartNumber - 1) * partMebibytes, PartNumber * partMebibytes));
        const input = { ...upload, UploadId, PartNumber, Body, ContentLength: partMebibytes * mebibyte };
        const { ETag } = await server.client.send(new UploadPartCommand(input));
        parts[PartNumber - 1] = { PartNumber, ETag };
      }
    };
    await Promise.all([worker(), worker(), worker()]);
    const MultipartUpload = { Parts: parts };
    await server.client.send(new CompleteMultipartUploadCommand({ ...upload, UploadId, MultipartUpload }));
    await expectWhole('multipart');
    expect((await memory(server, 'VmHWM')) - before).toBeLessThan(maxGrowth);
  });
});
