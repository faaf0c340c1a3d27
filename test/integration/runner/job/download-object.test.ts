import { createHash, randomBytes } from 'node:crypto';
import { type FileHandle, mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { DiskRoom } from '../../../../shared/archive/disk-room.ts';
import { type ObjectReader, objectReader } from '../../../../shared/aws/objects.ts';
import { type Download, downloadObject } from '../../../../shared/runner/job/download-object.ts';
import { type ChildServer, childBucket, startChild } from '../../s3/child-server.ts';

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
const bytes = randomBytes(24_000_000);
const what = 'source archive';

describe('a download of an input', () => {
  let folder: string;
  let path: string;
  let file: FileHandle;
  let server: ChildServer;
  /** From where, and of which object, it was asked for. */
  let room: DiskRoom;
  let asked: { from: number; etag?: string }[];
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'download-'));
    path = join(folder, 'input');
    file = await open(path, 'wx');
    server = await startChild(join(folder, 's3'));
    asked = [];
    room = new DiskRoom(folder);
    await put(bytes);
  });
  afterEach(async () => {
    await file.close();
    await server.kill();
    await rm(folder, { recursive: true, force: true });
  });

  const put = (Body: Uint8Array) =>
    server.client.send(new PutObjectCommand({ Bucket: childBucket, Key: 'input', Body }));

  /** Reads from the server that runs; `interrupt` happens when the first bytes of the first answer have come. */
  function reader(interrupt: () => Promise<unknown> = async () => undefined): ObjectReader {
    let isFirst = true;
    async function* interrupted(body: Readable) {
      for await (const chunk of body) {
        yield chunk;
        if (isFirst) {
          isFirst = false;
          await interrupt();
        }
      }
    }
    return {
      ...objectReader(server.client, childBucket),
      async open(key, { from, etag, ...at }) {
        asked.push({ from, ...(etag !== undefined && { etag }) });
        const found = await objectReader(server.client, childBucket).open(key, {
          ...at,
          from,
          ...(etag !== undefined && { etag }),
        });
        return found && { ...found, body: Readable.from(interrupted(found.body)) };
      },
    };
  }
  const download = (objects: ObjectReader, more: Partial<Download> = {}) =>
    downloadObject(objects, 'input', file, { what, room, ...more });
  const restart = async () => {
    server = await startChild(join(folder, 's3'));
  };

  test('goes on where it was when storage is killed in the middle and comes back', async () => {
    const objects = reader(async () => {
      await server.kill();
      setTimeout(() => void restart(), 500);
    });
    expect(await download(objects)).toBe(sha256(bytes));
    expect(sha256(await readFile(path))).toBe(sha256(bytes));
    const last = asked.at(-1);
    expect(asked[0]).toEqual({ from: 0 });
    expect(last?.from).toBeGreaterThan(0);
    expect(last?.etag).toBeDefined();
  });

  test('begins anew where the object is another one by then', async () => {
    const other = randomBytes(1_000_000);
    const objects = reader(async () => {
      await server.kill();
      await restart();
      await put(other);
    });
    expect(await download(objects)).toBe(sha256(other));
    expect(sha256(await readFile(path))).toBe(sha256(other));
  });

  test('is given up when storage stays away, in words that name what was fetched', async () => {
    const objects = reader(() => server.kill());
    await expect(download(objects, { patienceSeconds: 1 })).rejects.toThrow(
      /^The source archive could not be downloaded: storage could not be reached for 1 s \(\w+\)\.$/,
    );
  });

  test('does not wait for a storage that says nothing', async () => {
    const silent = createServer(() => undefined).listen(0, '127.0.0.1');
    onTestFinished(() => void silent.close());
    const address = silent.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const client = new S3Client({
      endpoint: `http://127.0.0.1:${port}`,
      region: 'us-east-1',
      credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
      forcePathStyle: true,
    });
    onTestFinished(() => client.destroy());
    const given = { patienceSeconds: 1, idleSeconds: 0.2 };
    await expect(download(objectReader(client, childBucket), given)).rejects.toThrow(
      'could not be downloaded',
    );
  });

  test('is refused before the first byte where the disk has no room for it', async () => {
    const small = new DiskRoom(folder, () => bytes.length - 1);
    await expect(download(objectReader(server.client, childBucket), { room: small })).rejects.toThrow(
      'The source archive does not fit on the disk: it needs 24000000 bytes, but the disk has 23999999 free.',
    );
    expect(await readFile(path)).toHaveLength(0);
  });

  test('asks only for what is still to come', async () => {
    let free = bytes.length;
    const objects = reader(async () => {
      await restart();
      free = bytes.length - 1;
    });
    expect(await download(objects, { room: new DiskRoom(folder, () => free) })).toBe(sha256(bytes));
  });

  test('is undefined where there is no object, and refused at once where storage refuses', async () => {
    expect(await downloadObject(reader(), 'missing', file, { what, room })).toBeUndefined();
    const stranger = new S3Client({
      endpoint: server.url,
      region: 'us-east-1',
      credentials: { accessKeyId: 'child-key', secretAccessKey: 'wrong' },
      forcePathStyle: true,
    });
    await expect(download(objectReader(stranger, childBucket))).rejects.toThrow(
      'Storage refuses the source archive (SignatureDoesNotMatch).',
    );
  });

  test('of a damaged object ends at once and names it', async () => {
    const damaged = Object.assign(new Error('The stored bytes of child/a are damaged.'), {
      name: 'InvalidObjectState',
    });
    const objects = { ...reader(), open: () => Promise.reject(damaged) };
    await expect(download(objects)).rejects.toThrow(
      'Storage cannot read the source archive. The stored bytes of child/a are damaged.',
    );
  });

  test('ends when the job is stopped', async () => {
    const stop = new AbortController();
    const objects = reader(async () => {
      await server.kill();
      stop.abort(new Error('stopped'));
    });
    await expect(download(objects, { stop: stop.signal })).rejects.toThrow('stopped');
  });

  test('ends with the error of a disk that does not take it', async () => {
    const reading = await open(path, 'r');
    onTestFinished(() => reading.close());
    await expect(
      downloadObject(reader(), 'input', Object.assign(reading, { truncate: async () => undefined }), {
        what,
        room,
      }),
    ).rejects.toThrow('EBADF');
    expect(asked).toHaveLength(1);
  });
});
