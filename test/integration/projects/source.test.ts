import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { endpoint as putDataset } from '../../../functions/projects/uploads/put-dataset.endpoint.ts';
import { endpoint as putSource } from '../../../functions/projects/uploads/put-source.endpoint.ts';
import { endpoint as readSource } from '../../../functions/projects/uploads/read-source.endpoint.ts';
import { endpoint as requestSourceUpload } from '../../../functions/projects/uploads/request-source-upload.endpoint.ts';
import { countersKey, parseCounters } from '../../../shared/data/projects/project.ts';
import { type TestService, type TestUser, testService } from '../../support/service.ts';
import { zip } from '../archive/archive-bytes.ts';
import { newProject } from './new-project.ts';
import { archive, send, sha256, type Ticket } from './upload-file.ts';

// One story: each test goes on from the one before it.
describe('source', { shuffle: false }, () => {
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
  async function upload(bytes: Uint8Array): Promise<void> {
    expect(await send((await ask(bytes)).json.upload, bytes)).toBe(200);
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
      parts: null,
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
    expect(await send(ticket, longer, { ...ticket.headers, 'content-length': String(longer.length) })).toBe(
      403,
    );
    const shorter = bytes.subarray(1);
    expect(await send(ticket, shorter, { ...ticket.headers, 'content-length': String(shorter.length) })).toBe(
      403,
    );
    const checksum = createHash('sha256').update(longer).digest('base64');
    expect(
      await send(ticket, longer, {
        'content-length': String(longer.length),
        'x-amz-checksum-sha256': checksum,
      }),
    ).toBe(403);
    expect(await send(ticket, bytes, { 'content-length': String(bytes.length) })).toBe(403);
    const elsewhere = ticket.url.replace(sha256(bytes), sha256(longer));
    expect(await send({ ...ticket, url: elsewhere }, bytes)).toBe(403);
    expect((await accept(bytes)).status).toBe(409);
    expect((await accept(longer)).status).toBe(409);
  });

  test('what is no archive is no source', async () => {
    const before = (await service.call(readSource, { path, as: owner })).json;
    for (const bytes of [
      Buffer.from('just text'),
      gzipSync('a,b\n1,2\n'),
      Buffer.alloc(600),
      Buffer.of(0x1f, 0x8b),
    ]) {
      await upload(bytes);
      const answer = await accept(bytes);
      expect(answer.status).toBe(400);
      expect(answer.json.errors).toEqual([
        {
          in: 'query',
          name: 'sha256',
          message: expect.stringContaining('neither a tar.gz, a tar nor a zip'),
        },
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

  test("one project's upload is nothing to another", async () => {
    const bytes = archive('private');
    await upload(bytes);
    const other = await newProject(service, owner);
    const answer = await service.call(putSource, {
      path: { project_id: other },
      query: { sha256: sha256(bytes) },
      as: owner,
    });
    expect(answer.status).toBe(409);
    const asDataset = { path: { ...path, dataset: 'private' }, query: { sha256: sha256(bytes) }, as: owner };
    expect((await service.call(putDataset, asDataset)).status).toBe(409);
  });
});
