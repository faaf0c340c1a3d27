import { createHash, randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { endpoint as listDatasets } from '../../../functions/projects/list-datasets.endpoint.ts';
import { endpoint as putDataset } from '../../../functions/projects/put-dataset.endpoint.ts';
import { endpoint as putSource } from '../../../functions/projects/put-source.endpoint.ts';
import { endpoint as readSource } from '../../../functions/projects/read-source.endpoint.ts';
import { endpoint as requestDatasetUpload } from '../../../functions/projects/request-dataset-upload.endpoint.ts';
import { endpoint as requestSourceUpload } from '../../../functions/projects/request-source-upload.endpoint.ts';
import { countersKey, parseCounters } from '../../../shared/data/project.ts';
import { uploadMaxBytes } from '../../../shared/data/upload.ts';
import { type TestService, type TestUser, testService } from '../../support/service.ts';
import { tar, tarEntry, zip } from '../runner/archive-bytes.ts';
import { newProject } from './new-project.ts';

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
const archive = (content: string) => gzipSync(tar(tarEntry('train.py', { content })));

interface Ticket {
  url: string;
  method: string;
  headers: Record<string, string>;
}

/** Sends bytes as any client would, with the headers of the ticket unless others are given; answers the status. */
function send(upload: Ticket, bytes: Uint8Array, headers: Record<string, string> = upload.headers): Promise<number> {
  return new Promise((resolve, reject) => {
    const sending = request(upload.url, { method: upload.method, headers }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode ?? 0));
    });
    sending.on('error', reject);
    sending.end(bytes);
  });
}

describe('uploads', () => {
  let service: TestService;
  let owner: TestUser;
  let path: { project_id: string };

  beforeAll(async () => {
    service = await testService();
    owner = await service.user('developer');
    path = { project_id: await newProject(service, owner) };
  });

  const ask = async (bytes: Uint8Array) => {
    const query = { sha256: sha256(bytes), size: String(bytes.length) };
    return service.call(requestSourceUpload, { path, query, as: owner });
  };
  const accept = (bytes: Uint8Array, headers: Record<string, string> = {}) =>
    service.call(putSource, { path, query: { sha256: sha256(bytes) }, headers, as: owner });
  const dataset = (name: string, bytes: Uint8Array, query: Record<string, string> = {}) =>
    service.call(putDataset, {
      path: { ...path, dataset: name },
      query: { sha256: sha256(bytes), ...query },
      as: owner,
    });
  async function upload(bytes: Uint8Array): Promise<void> {
    expect(await send((await ask(bytes)).json.upload, bytes)).toBe(200);
  }
  async function uploadDataset(name: string, bytes: Uint8Array): Promise<void> {
    const { json } = await service.call(requestDatasetUpload, {
      path: { ...path, dataset: name },
      query: { sha256: sha256(bytes), size: String(bytes.length) },
      as: owner,
    });
    expect(await send(json.upload, bytes)).toBe(200);
  }
  const counters = async () => parseCounters((await service.records.get(countersKey(path.project_id)))!);

  test('a source is uploaded, accepted and answered', async () => {
    expect((await service.call(readSource, { path, as: owner })).status).toBe(404);
    const bytes = archive('first');
    const asked = await ask(bytes);
    expect(asked.status).toBe(200);
    expect(asked.json).toEqual({
      upload: {
        url: expect.stringMatching(/^http:/),
        method: 'PUT',
        headers: {
          'content-length': String(bytes.length),
          'x-amz-checksum-sha256': createHash('sha256').update(bytes).digest('base64'),
        },
        expires_in: 3600,
      },
      sha256: sha256(bytes),
      size: bytes.length,
    });
    expect((await accept(bytes)).status).toBe(409);
    expect(await send(asked.json.upload, bytes)).toBe(200);
    const accepted = await accept(bytes);
    expect(accepted.status).toBe(200);
    expect(accepted.json).toEqual({
      sha256: sha256(bytes),
      size: bytes.length,
      format: 'tar.gz',
      updated_at: expect.any(String),
    });
    const found = await service.call(readSource, { path, as: owner });
    expect(found.json).toEqual(accepted.json);
    expect(found.headers['etag']).toBe(accepted.headers['etag']);
    expect(await counters()).toMatchObject({ objects: 1, bytes: bytes.length });
  });

  test('fetch sends it as well, which sets the length itself', async () => {
    const bytes = archive('by fetch');
    const { upload: ticket } = (await ask(bytes)).json;
    const { 'content-length': _, ...headers } = ticket.headers;
    const answer = await fetch(ticket.url, { method: 'PUT', headers, body: bytes });
    expect(answer.status).toBe(200);
    expect((await accept(bytes)).status).toBe(200);
  });

  test('storage refuses other bytes than those announced', async () => {
    const bytes = archive('announced');
    const { upload: ticket } = (await ask(bytes)).json as { upload: Ticket };
    const other = Buffer.from(bytes);
    other[other.length - 1]! ^= 1;
    expect(await send(ticket, other)).toBe(400);
    const longer = Buffer.concat([bytes, Buffer.of(0)]);
    expect(await send(ticket, longer, { ...ticket.headers, 'content-length': String(longer.length) })).toBe(403);
    const shorter = bytes.subarray(1);
    expect(await send(ticket, shorter, { ...ticket.headers, 'content-length': String(shorter.length) })).toBe(403);
    const checksum = createHash('sha256').update(longer).digest('base64');
    expect(await send(ticket, longer, { 'content-length': String(longer.length), 'x-amz-checksum-sha256': checksum })).toBe(403);
    expect(await send(ticket, bytes, { 'content-length': String(bytes.length) })).toBe(403);
    const elsewhere = ticket.url.replace(sha256(bytes), sha256(longer));
    expect(await send({ ...ticket, url: elsewhere }, bytes)).toBe(403);
    expect((await accept(bytes)).status).toBe(409);
    expect((await accept(longer)).status).toBe(409);
  });

  test('what is no archive is no source', async () => {
    const before = (await service.call(readSource, { path, as: owner })).json;
    for (const bytes of [Buffer.from('just text'), gzipSync('a,b\n1,2\n'), Buffer.alloc(600), Buffer.of(0x1f, 0x8b)]) {
      await upload(bytes);
      const answer = await accept(bytes);
      expect(answer.status).toBe(400);
      expect(answer.json.errors).toEqual([
        { in: 'query', name: 'sha256', message: expect.stringContaining('neither a tar.gz, a tar nor a zip') },
      ]);
    }
    expect((await service.call(readSource, { path, as: owner })).json).toEqual(before);
  });

  test('an earlier source becomes current again without being counted twice', async () => {
    const before = await counters();
    const one = archive('one');
    const two = zip({ 'train.py': { content: Buffer.from('two') } });
    await upload(one);
    await upload(two);
    const first = await accept(one);
    expect((await accept(two)).json.format).toBe('zip');
    const again = await accept(one);
    expect(again.json.sha256).toBe(sha256(one));
    const version = Number(/^"(\d+)-/.exec(first.headers['etag']!)?.[1]);
    expect(again.headers['etag']).toMatch(new RegExp(`^"${version + 2}-`));
    expect((await accept(one)).headers['etag']).toBe(again.headers['etag']);
    expect(await counters()).toMatchObject({
      objects: before.objects + 2,
      bytes: before.bytes + one.length + two.length,
    });
    expect((await accept(two, { 'If-Match': first.headers['etag']! })).status).toBe(412);
    expect((await accept(two, { 'If-Match': again.headers['etag']! })).status).toBe(200);
  });

  test('sources accepted at the same moment are all counted once', async () => {
    const before = await counters();
    const archives = ['x', 'y', 'z'].map(archive);
    for (const bytes of archives) await upload(bytes);
    const answers = await Promise.all([...archives, ...archives].map((bytes) => accept(bytes)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
    expect((await counters()).objects).toBe(before.objects + 3);
  });

  test('data sets have names and any format', async () => {
    const table = Buffer.from('a,b\n1,2\n');
    const zipped = zip({ 'x.npy': { content: randomBytes(100) } });
    for (const [name, bytes] of [['train.csv', table], ['digits.npz', zipped]] as const) await uploadDataset(name, bytes);
    expect((await dataset('train.csv', zipped)).json).toMatchObject({ dataset: 'train.csv', format: 'zip' });
    expect((await dataset('train.csv', table)).json).toEqual({
      dataset: 'train.csv',
      sha256: sha256(table),
      size: table.length,
      format: 'file',
      updated_at: expect.any(String),
    });
    expect((await dataset('digits.npz', zipped, { format: 'file' })).json).toMatchObject({ format: 'file' });
    expect((await dataset('digits.npz', zipped, { format: 'zip' })).status).toBe(400);
    const listed = await service.call(listDatasets, { path, as: owner });
    expect(listed.json.map((one: { dataset: string; format: string }) => [one.dataset, one.format])).toEqual([
      ['digits.npz', 'file'],
      ['train.csv', 'file'],
    ]);
    const page = await service.call(listDatasets, { path, query: 'limit=1', as: owner });
    expect(page.json).toHaveLength(1);
    expect(page.headers['link']).toContain('rel="next"');
  });

  test("one project's upload is nothing to another", async () => {
    const bytes = archive('private');
    await upload(bytes);
    const other = await newProject(service, owner);
    const answer = await service.call(putSource, { path: { project_id: other }, query: { sha256: sha256(bytes) }, as: owner });
    expect(answer.status).toBe(409);
    expect((await dataset('private', bytes)).status).toBe(409);
  });

  test.each([
    ['no size', { sha256: 'a'.repeat(64) }, 'size', 'is required'],
    ['nothing', { sha256: 'a'.repeat(64), size: '0' }, 'size', `from 1 to ${uploadMaxBytes}`],
    ['more than 5 GB', { sha256: 'a'.repeat(64), size: String(uploadMaxBytes + 1) }, 'size', 'whole number'],
    ['a fraction', { sha256: 'a'.repeat(64), size: '1.5' }, 'size', 'whole number'],
    ['an exponent', { sha256: 'a'.repeat(64), size: '1e3' }, 'size', 'whole number'],
    ['no digest', { size: '1' }, 'sha256', 'is required'],
    ['a digest in upper case', { sha256: 'A'.repeat(64), size: '1' }, 'sha256', '64 lower-case'],
    ['a path for a digest', { sha256: `../${'a'.repeat(61)}`, size: '1' }, 'sha256', '64 lower-case'],
  ])('refuses %s', async (_, query, name, message) => {
    const fault = [{ in: 'query', name, message: expect.stringContaining(message) }];
    const source = await service.call(requestSourceUpload, { path, query: { ...query }, as: owner });
    expect(source.status).toBe(400);
    expect(source.json.errors).toEqual(fault);
    const set = await service.call(requestDatasetUpload, { path: { ...path, dataset: 'x' }, query: { ...query }, as: owner });
    expect(set.json.errors).toEqual(fault);
  });

  test.each(['../x', '.x', 'x/y', '', 'ä', 'x'.repeat(129)])('refuses the name %j of a data set', async (name) => {
    const call = { path: { ...path, dataset: name }, as: owner };
    const asked = await service.call(requestDatasetUpload, { ...call, query: { sha256: 'a'.repeat(64), size: '1' } });
    expect(asked.status).toBe(400);
    const put = await service.call(putDataset, { ...call, query: { sha256: 'a'.repeat(64) } });
    expect(put.json.errors).toEqual([expect.objectContaining({ in: 'path', name: 'dataset' })]);
  });
});
