import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { seededBytes } from '../../support/seeded-bytes.ts';
import { childBucket as Bucket, type ChildServer, startChild } from './child-server.ts';
import { signRequest } from './sign-request.ts';
import { lacks } from './target.ts';

const randomBytes = seededBytes(8);

let folder: string;
let server: ChildServer | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 's3-durability-'));
});
afterEach(async () => {
  await server?.kill();
  server = undefined;
  rmSync(folder, { recursive: true });
});

const staged = () => readdirSync(join(folder, 'staging'));
const blobs = () =>
  readdirSync(join(folder, 'blobs'), { recursive: true, withFileTypes: true }).filter((file) =>
    file.isFile(),
  );
/** Files that objects refer to and whose bytes could not be compared. */
const filesWithoutSums = () => {
  const index = new DatabaseSync(join(folder, 'index.sqlite'), { readOnly: true });
  try {
    return index.prepare('SELECT file FROM segments WHERE file NOT IN (SELECT file FROM sums)').all();
  } finally {
    index.close();
  }
};
const restart = async () => {
  server = await startChild(folder);
  return server;
};
const sha256 = (data: Uint8Array) => createHash('sha256').update(data).digest('hex');

describe.skipIf(lacks('own-server'))('the data folder', () => {
  test('keeps everything over a clean stop, which ends with stdin', async () => {
    const { client, endInput, ended } = await restart();
    const Body = randomBytes(10_000);
    await client.send(new PutObjectCommand({ Bucket, Key: 'kept', Body, Metadata: { a: 'b' } }));
    const { UploadId } = await client.send(
      new CreateMultipartUploadCommand({
        Bucket,
        Key: 'parts',
        ChecksumAlgorithm: 'CRC32',
        ChecksumType: 'FULL_OBJECT',
      }),
    );
    const upload = { Bucket, Key: 'parts', UploadId };
    const { ETag } = await client.send(new UploadPartCommand({ ...upload, PartNumber: 1, Body }));
    endInput();
    expect(await ended).toBe(0);
    const again = (await restart()).client;
    const kept = await again.send(new GetObjectCommand({ Bucket, Key: 'kept' }));
    expect(kept.Metadata).toEqual({ a: 'b' });
    expect(Buffer.from(await kept.Body!.transformToByteArray()).equals(Body)).toBe(true);
    const MultipartUpload = { Parts: [{ PartNumber: 1, ETag }] };
    await again.send(new CompleteMultipartUploadCommand({ ...upload, MultipartUpload }));
    const { KeyCount } = await again.send(new ListObjectsV2Command({ Bucket }));
    expect(KeyCount).toBe(2);
  });

  test('stops on SIGTERM', async () => {
    const child = await restart();
    child.process.kill('SIGTERM');
    expect(await child.ended).toBe(0);
  });

  test('is taken by one server at a time, and a second one clears up nothing', async () => {
    await restart();
    writeFileSync(join(folder, 'staging', 'in-progress'), 'x');
    await expect(startChild(folder)).rejects.toThrow('did not start');
    expect(staged()).toEqual(['in-progress']);
  });

  test('is cleared of what a crash left behind', async () => {
    await (await restart()).kill();
    writeFileSync(join(folder, 'staging', 'f'.repeat(32)), 'left over');
    await restart();
    expect(staged()).toEqual([]);
  });

  test('holds no files of replaced and deleted objects', async () => {
    const { client } = await restart();
    for (const Body of ['1', '2', '3']) await client.send(new PutObjectCommand({ Bucket, Key: 'k', Body }));
    await expect.poll(blobs).toHaveLength(1);
    await client.send(new DeleteObjectCommand({ Bucket, Key: 'k' }));
    await expect.poll(blobs).toHaveLength(0);
  });

  test('holds nothing of an upload that its client gave up', async () => {
    const { url } = await restart();
    const address = new URL(`${url}/${Bucket}/aborted`);
    const signer = {
      region: 'us-east-1',
      credentials: { accessKeyId: 'child-key', secretAccessKey: 'child-secret' },
    };
    const { headers } = signRequest(signer, 'PUT', address, { 'content-length': '1000000' });
    const socket = connect(Number(address.port), address.hostname);
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    socket.write(`PUT ${address.pathname} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
    socket.write(Buffer.alloc(100_000));
    await expect.poll(staged).toHaveLength(1);
    socket.destroy();
    await expect.poll(staged).toEqual([]);
    expect(blobs()).toEqual([]);
  });

  test('has no torn object after kill -9 in the middle of puts, and lost none it acknowledged', async () => {
    const keys = Array.from({ length: 8 }, (_, index) => `key ${index}`);
    const acknowledged = new Map<string, number>();
    let version = 0;
    for (let round = 1; round <= 3; round += 1) {
      const { client, kill } = await restart();
      const rewrite = async (Key: string) => {
        for (;;) {
          version += 1;
          const mine = version;
          const Body = randomBytes(20_000 + (mine % 7) * 40_000);
          const Metadata = { version: String(mine), sha256: sha256(Body) };
          await client.send(new PutObjectCommand({ Bucket, Key, Body, Metadata }));
          acknowledged.set(Key, mine);
        }
      };
      const writers = Promise.allSettled(keys.map(rewrite));
      const oldest = () => Math.min(...keys.map((Key) => acknowledged.get(Key) ?? 0));
      await expect.poll(oldest, { interval: 2 }).toBeGreaterThan(round * 40);
      await kill();
      await writers;
      const after = (await restart()).client;
      for (const Key of keys) {
        const { Body, Metadata } = await after.send(new GetObjectCommand({ Bucket, Key }));
        expect(sha256(await Body!.transformToByteArray())).toBe(Metadata!['sha256']);
        expect(Number(Metadata!['version'])).toBeGreaterThanOrEqual(acknowledged.get(Key)!);
      }
      expect(staged()).toEqual([]);
      await expect.poll(blobs).toHaveLength(keys.length);
      await server!.kill();
      expect(filesWithoutSums()).toEqual([]);
    }
  });
});
