import { createHash } from 'node:crypto';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import type { ClientRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { endpoint as downloadArtifact } from '../../../functions/experiments/artifacts/download-artifact.endpoint.ts';
import { Client } from '../../../shared/client/client.ts';
import { saveDownload, WrongBytesError } from '../../../shared/client/node/save-download.ts';
import { sendFile } from '../../../shared/client/node/send-file.ts';
import { sendParts } from '../../../shared/client/node/send-parts.ts';
import { sendUpload } from '../../../shared/client/send-upload.ts';
import { seededBytes } from '../../support/seeded-bytes.ts';
import { sendBlob } from '../../support/send-blob.ts';
import { lost, served, type Turn } from './served.ts';

const bytes = seededBytes(1)(300_000);
const sha256 = createHash('sha256').update(bytes).digest('hex');
const size = bytes.length;
const route = 'GET /projects/{project_id}/experiments/{experiment_id}/artifacts/{path+}';
const request = { path: { project_id: 'p', experiment_id: 'e', path: 'model/a b.bin' } };

/** Sends what the request's range asks for, and loses the connection after so many bytes, once some of them are kept. */
const ranged =
  (most = size): Turn =>
  (response, { headers }) => {
    const from = Number(/^bytes=(\d+)-$/.exec(headers.range ?? '')?.[1] ?? 0);
    response.writeHead(from === 0 ? 200 : 206, { 'Content-Length': size - from });
    const part = bytes.subarray(from, Math.min(size, from + most));
    response.write(part, async () => {
      if (from + most >= size) return void response.end();
      while (!(await isKept())) await sleep(5);
      response.destroy();
    });
  };

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mps-files-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const isKept = async () =>
  ((await stat(join(folder, 'below', 'file.bin.part')).catch(() => undefined))?.size ?? 0) > 0;

const save = (url: string, digest = sha256) =>
  saveDownload<typeof downloadArtifact>(new Client({ url }), route, request, {
    path: join(folder, 'below', 'file.bin'),
    size,
    sha256: digest,
  });

describe('a download', () => {
  test('goes on where the connection was lost, and is not repeated once it is there', async () => {
    const { url, received } = await served(ranged(100_000), lost, ranged(150_000), ranged());
    expect(await save(url)).toBe(true);
    expect(await readFile(join(folder, 'below/file.bin'))).toEqual(bytes);
    expect(await readdir(join(folder, 'below'))).toEqual(['file.bin']);
    const ranges = received.map(({ headers }) => headers.range);
    expect(ranges[0]).toBeUndefined();
    expect(ranges.at(-1)).toMatch(/^bytes=[1-9]\d+-$/);
    expect(received[0]?.url).toContain('/artifacts/model/a%20b.bin');
    const requests = received.length;
    expect(await save(url)).toBe(false);
    expect(received).toHaveLength(requests);
  });

  test('goes on with the part that an earlier process left', async () => {
    const { url, received } = await served(ranged());
    await saveDownload<typeof downloadArtifact>(new Client({ url }), route, request, {
      path: join(folder, 'other'),
      size,
      sha256,
    });
    await writeFile(join(folder, 'file.part'), bytes.subarray(0, 1000));
    await saveDownload<typeof downloadArtifact>(new Client({ url }), route, request, {
      path: join(folder, 'file'),
      size,
      sha256,
    });
    expect(received.at(-1)?.headers.range).toBe('bytes=1000-');
    expect(await readFile(join(folder, 'file'))).toEqual(bytes);
  });

  test('of other bytes than promised is refused, and leaves nothing', async () => {
    const { url } = await served(ranged());
    await expect(save(url, 'f'.repeat(64))).rejects.toThrow(WrongBytesError);
    expect(await readdir(join(folder, 'below'))).toEqual([]);
  });
});

describe('an upload', () => {
  const upload = async (url: string, content = bytes) => {
    const path = join(folder, 'source');
    await writeFile(path, content);
    const size = content.length;
    const sent: number[] = [];
    const target = async () => ({ url, method: 'PUT', headers: { 'x-check': 'a' } });
    await sendUpload(target, sendFile({ path, size, onProgress: (count) => sent.push(count) }));
    return sent;
  };
  const digested: Turn = (response) => response.writeHead(200).end();

  test('sends the file with its size and tells how far it is; a lost connection is repeated', async () => {
    const { url, received } = await served(lost, digested);
    const sent = await upload(url);
    expect(sent.at(-1)).toBe(size);
    expect(received.at(-1)?.headers).toMatchObject({ 'content-length': String(size), 'x-check': 'a' });
  });

  test('goes on where the connection ends between two blocks, of which Node tells nobody', async () => {
    const { url, received } = await served(digested);
    const requests: ClientRequest[] = [];
    const follow = (message: unknown) => {
      const { request: one } = message as { request: ClientRequest };
      if (one.method === 'PUT' && requests.push(one) === 1) {
        const write = one.write.bind(one) as (...args: unknown[]) => boolean;
        one.write = (...args: unknown[]) => {
          one.socket?.destroy();
          return write(...args);
        };
      }
    };
    subscribe('http.client.request.created', follow);
    onTestFinished(() => void unsubscribe('http.client.request.created', follow));
    const large = Buffer.alloc(5_000_000);
    expect((await upload(url, large)).at(-1)).toBe(large.length);
    expect(requests).toHaveLength(2);
    expect(received).toHaveLength(1);
  });

  test('of bytes in memory, as in a browser, sends them with their size', async () => {
    const { url, received } = await served(digested);
    const target = async () => ({ url, method: 'PUT', headers: { 'x-check': 'a' } });
    await sendUpload(target, sendBlob(new Blob(['some bytes'])));
    expect(received).toMatchObject([
      { method: 'PUT', body: 'some bytes', headers: { 'content-length': '10' } },
    ]);
  });

  test('in parts sends those that are missing, each by its place; a lost connection is repeated', async () => {
    const most = 100_000;
    const { url, received } = await served(digested, lost, digested);
    const path = join(folder, 'source');
    await writeFile(path, bytes);
    // The first one was sent by an earlier process.
    const arrived = new Map([[0, bytes.subarray(0, most)]]);
    const partsLeft = () =>
      [0, 1, 2, 3]
        .map((index) => ({ offset: index * most, size: Math.min(most, size - index * most) }))
        .filter(({ offset }) => offset < size && !arrived.has(offset))
        .map((part) => ({
          ...part,
          part_number: part.offset / most + 1,
          url: `${url}/${part.offset}`,
          method: 'PUT',
          headers: {},
        }));
    const missing = async () => {
      for (const { url: at, bytes: body } of received) arrived.set(Number(at.slice(1)), body);
      return partsLeft();
    };
    const told: number[] = [];
    await sendParts(missing, { path, size, onProgress: (count) => told.push(count) });
    const whole = [0, most, 2 * most].map((offset) => arrived.get(offset) ?? Buffer.alloc(0));
    expect(Buffer.concat(whole)).toEqual(bytes);
    expect([told[0], told.at(-1)]).toEqual([most, size]);
    expect(received.map(({ url: at }) => at)).not.toContain('/0');
  });

  test('that storage refuses says why', async () => {
    const { url, received } = await served((response) => response.writeHead(400).end('BadDigest'));
    await expect(upload(url)).rejects.toThrow('Storage refused the file: 400 BadDigest');
    expect(received).toHaveLength(1);
  });
});
