import { beforeAll, describe, expect, test } from 'vitest';
import { endpoint as downloadDataset } from '../../../functions/projects/uploads/download-dataset.endpoint.ts';
import { endpoint as putDataset } from '../../../functions/projects/uploads/put-dataset.endpoint.ts';
import { endpoint as putSource } from '../../../functions/projects/uploads/put-source.endpoint.ts';
import { endpoint as requestDatasetUpload } from '../../../functions/projects/uploads/request-dataset-upload.endpoint.ts';
import { endpoint as requestSourceUpload } from '../../../functions/projects/uploads/request-source-upload.endpoint.ts';
import { type ObjectWriter, objectWriter } from '../../../shared/aws/objects.ts';
import { s3 } from '../../../shared/aws/s3-client.ts';
import { countersKey, parseCounters } from '../../../shared/data/projects/project.ts';
import { uploadMaxBytes } from '../../../shared/data/projects/upload.ts';
import { testBucket } from '../../support/emulators.ts';
import { seededBytes } from '../../support/seeded-bytes.ts';
import { type TestService, type TestUser, testService } from '../../support/service.ts';
import { newProject } from './new-project.ts';
import { archive, send, sha256, type Ticket } from './upload-file.ts';

const mebibyte = 1024 ** 2;
const randomBytes = seededBytes(11);

interface Part extends Ticket {
  part_number: number;
  offset: number;
  size: number;
}

// One story: each test goes on from the one before it.
describe('an upload of a project in parts', { shuffle: false }, () => {
  let service: TestService;
  let owner: TestUser;
  let objects: ObjectWriter;
  let path: { project_id: string; dataset: string };

  beforeAll(async () => {
    service = await testService();
    owner = await service.user('developer');
    objects = objectWriter(s3(service.environment), testBucket);
    path = { project_id: await newProject(service, owner), dataset: 'numbers' };
  });

  const ask = (bytes: Uint8Array, more: Record<string, string> = { multipart: 'true' }) =>
    service.call(requestDatasetUpload, {
      path,
      query: { sha256: sha256(bytes), size: String(bytes.length), ...more },
      as: owner,
    });
  const accept = (bytes: Uint8Array) =>
    service.call(putDataset, { path, query: { sha256: sha256(bytes) }, as: owner });
  const sendPart = (bytes: Uint8Array, part: Part) =>
    send(part, bytes.subarray(part.offset, part.offset + part.size));
  const counted = async () => parseCounters((await service.records.get(countersKey(path.project_id)))!);

  test('goes on with what has arrived, and is joined and counted when it is accepted', async () => {
    const bytes = randomBytes(17 * mebibyte);
    const { json } = await ask(bytes);
    expect(json.upload).toBeNull();
    expect(json.parts.map(({ offset, size }: Part) => [offset, size])).toEqual([
      [0, 16 * mebibyte],
      [16 * mebibyte, mebibyte],
    ]);
    expect(await sendPart(bytes, json.parts[0])).toBe(200);
    const early = await accept(bytes);
    expect([early.status, early.json.detail]).toEqual([409, expect.stringContaining('1 part ')]);
    const [left, ...none] = (await ask(bytes)).json.parts;
    expect([left.part_number, none]).toEqual([2, []]);
    expect(await sendPart(bytes, left)).toBe(200);
    expect(await accept(bytes)).toMatchObject({ status: 200, json: { size: bytes.length, format: 'file' } });
    expect(await counted()).toMatchObject({ objects: 1, bytes: bytes.length });

    // It stays accepted, and can be the current version again after another one.
    expect((await ask(bytes)).json.parts).toEqual([]);
    const other = Buffer.from('1,2\n');
    expect(await send((await ask(other, {})).json.upload, other)).toBe(200);
    expect((await accept(other)).status).toBe(200);
    expect(await accept(bytes)).toMatchObject({ status: 200, json: { sha256: sha256(bytes) } });
    const { headers } = await service.call(downloadDataset, { path, as: owner });
    const stored = await fetch(headers['location'] ?? '');
    expect(sha256(new Uint8Array(await stored.arrayBuffer()))).toBe(sha256(bytes));
  });

  test('that was joined while its answer was lost is accepted', async () => {
    const bytes = randomBytes(100);
    const { json } = await ask(bytes);
    expect(await sendPart(bytes, json.parts[0])).toBe(200);
    const uploadId = new URL(json.parts[0].url).searchParams.get('uploadId') ?? '';
    const object = `projects/${path.project_id}/datasets/${sha256(bytes)}`;
    expect(await objects.completeParts(object, uploadId, [{ part_number: 1, size: 100 }])).toEqual([]);
    expect((await ask(bytes)).json.parts).toEqual([]);
    expect((await accept(bytes)).status).toBe(200);
  });

  test('begins anew where storage has given up what had arrived', async () => {
    const bytes = randomBytes(300);
    const { json } = await ask(bytes);
    expect(await sendPart(bytes, json.parts[0])).toBe(200);
    const uploadId = new URL(json.parts[0].url).searchParams.get('uploadId') ?? '';
    const object = `projects/${path.project_id}/datasets/${sha256(bytes)}`;
    await objects.abortParts(object, uploadId);
    expect((await accept(bytes)).status).toBe(409);
    const again = (await ask(bytes)).json.parts;
    expect(again).toHaveLength(1);
    expect(await sendPart(bytes, again[0])).toBe(200);
    expect((await ask(bytes)).json.parts).toEqual([]);
    expect((await accept(bytes)).status).toBe(200);
  });

  test('may end in one piece, which storage compares with its hash', async () => {
    const bytes = archive('by another way');
    const source = {
      path: { project_id: path.project_id },
      query: { sha256: sha256(bytes), size: String(bytes.length) },
      as: owner,
    };
    const query = { ...source.query, multipart: 'true' };
    expect((await service.call(requestSourceUpload, { ...source, query })).json.parts).toHaveLength(1);
    const whole = (await service.call(requestSourceUpload, source)).json;
    expect(whole.parts).toBeNull();
    expect(await send(whole.upload, bytes)).toBe(200);
    const accepted = { ...source, query: { sha256: sha256(bytes) } };
    expect((await service.call(putSource, accepted)).status).toBe(200);
  });

  test('of two clients that begin at once is one', async () => {
    const bytes = randomBytes(200);
    const tickets = await Promise.all([ask(bytes), ask(bytes)]);
    const ids = tickets.map(({ json }) => new URL(json.parts[0].url).searchParams.get('uploadId'));
    expect(ids[0]).toBe(ids[1]);
  });

  test('is what storage wants above 5 GB', async () => {
    const query = { sha256: 'c'.repeat(64), size: String(uploadMaxBytes + 1) };
    const { json } = await service.call(requestDatasetUpload, { path, query, as: owner });
    expect([json.upload, json.parts.length]).toEqual([null, Math.ceil((uploadMaxBytes + 1) / 16 / mebibyte)]);
  });
});
