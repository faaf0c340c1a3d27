import { ulid } from 'ulid';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { endpoint as deleteModel } from '../../../functions/optimization/models/delete-model.endpoint.ts';
import { endpoint as listModels } from '../../../functions/optimization/models/list-models.endpoint.ts';
import { endpoint as readModel } from '../../../functions/optimization/models/read-model.endpoint.ts';
import { endpoint as deleteUser } from '../../../functions/users/delete-user.endpoint.ts';
import { type ObjectWriter, objectWriter } from '../../../shared/aws/objects.ts';
import { s3 } from '../../../shared/aws/s3-client.ts';
import { findModel, modelPrefix } from '../../../shared/data/models/model.ts';
import { listPurges } from '../../../shared/data/projects/purge.ts';
import { onnxFixture, recordedModel } from '../../support/model.ts';
import { seededBytes } from '../../support/seeded-bytes.ts';
import { type TestService, type TestUser, testService } from '../../support/service.ts';
import { zip } from '../archive/archive-bytes.ts';
import { send, sha256 } from '../projects/upload-file.ts';
import { modelBench } from './model-bench.ts';

const randomBytes = seededBytes(4);

const digits = onnxFixture('digits.onnx');
const npz = zip({ 'image.npy': { content: randomBytes(64) } });

let service: TestService;
let owner: TestUser;
let objects: ObjectWriter;
let bench: ReturnType<typeof modelBench>;

beforeAll(async () => {
  service = await testService({ LOG_LEVEL: 'error' });
  owner = await service.user('developer');
  objects = objectWriter(s3(service.environment), service.environment['BUCKET'] ?? '');
});

beforeEach(() => {
  bench = modelBench(service, owner, `m${ulid().toLowerCase()}`);
});

const read = () => service.call(readModel, { path: bench.path, as: owner });
const remove = () => service.call(deleteModel, { path: bench.path, as: owner });
const record = () => findModel(service.records, bench.path.model_name);

describe('a model', () => {
  test('is uploaded, accepted, inspected and deleted', async () => {
    const asked = await bench.upload(digits);
    expect(asked.json.model).toMatchObject({ status: 'uploading', digest: null, inspection: null });
    expect(asked.json).toMatchObject({ parts: null, expires_in: 3600 });
    const accepted = await bench.accept();
    expect(accepted.status).toBe(200);
    expect(accepted.json).toEqual({
      model_id: expect.any(String),
      ...bench.path,
      owner: owner.user.username,
      owner_id: owner.user.user_id,
      status: 'ready',
      origin: { kind: 'upload' },
      lineage: null,
      digest: sha256(digits),
      bytes: digits.length,
      has_calibration: false,
      has_evaluation: false,
      opset: 17,
      nodes: 5,
      parameters: 130,
      created_at: expect.any(String),
      updated_at: expect.any(String),
      files: [
        { role: 'model', name: 'model.onnx', size: digits.length, sha256: sha256(digits), verified: true },
      ],
      pending: [],
      shapes: { inputs: null, outputs: null },
      inspection: expect.objectContaining({
        opsets: { 'ai.onnx': 17 },
        inputs: [{ name: 'image', type: 'float', shape: ['batch', 1, 8, 8] }],
        outputs: [{ name: 'logits', type: 'float', shape: ['batch', 10] }],
        operators: { Conv: 1, Relu: 1, GlobalAveragePool: 1, Flatten: 1, Gemm: 1 },
      }),
    });
    expect((await read()).json).toEqual(accepted.json);
    const { model_id } = accepted.json;
    expect((await remove()).json).toEqual({
      model_id,
      ...bench.path,
      deleted: { objects: 1, bytes: digits.length },
    });
    expect((await read()).status).toBe(404);
    expect((await objects.list(modelPrefix(model_id))).objects).toEqual([]);
    const { items } = await listPurges(service.records, undefined);
    expect(items.map(({ target }) => target.prefixes)).toContainEqual([modelPrefix(model_id)]);
  });

  test('never changes once it is ready, and repeating what made it does nothing', async () => {
    await bench.upload(digits);
    const { json: first } = await bench.accept();
    const again = await bench.announce(digits);
    expect([again.status, again.json.upload, again.json.parts]).toEqual([200, null, null]);
    expect(again.json.model).toEqual(first);
    expect((await bench.accept()).json).toEqual(first);
    const other = await bench.announce(onnxFixture('choice.onnx'));
    expect([other.status, other.json.detail]).toEqual([409, expect.stringContaining('never change')]);
    const data = await bench.announce(digits, { file: 'data', name: 'w.bin' });
    expect(data.status).toBe(409);
  });

  test('bytes other than announced are refused by storage', async () => {
    const { json } = await bench.announce(digits);
    expect(await send(json.upload, Buffer.alloc(digits.length))).toBe(400);
    const shorter = { ...json.upload.headers, 'content-length': String(digits.length - 1) };
    expect(await send(json.upload, digits.subarray(1), shorter)).toBe(403);
    const early = await bench.accept();
    expect([early.status, early.json.detail]).toEqual([
      409,
      expect.stringContaining('Not uploaded yet: model.onnx'),
    ]);
    expect(await send(json.upload, digits)).toBe(200);
    expect((await bench.accept()).status).toBe(200);
  });

  test('goes on after a lost answer with the same place, and takes a corrected file instead', async () => {
    const wrong = Buffer.from('not a model');
    await bench.upload(wrong);
    const first = (await record())?.pending[0]?.object;
    await bench.announce(wrong);
    expect((await record())?.pending.map(({ object }) => object)).toEqual([first]);
    const refused = await bench.accept();
    expect(refused.status).toBe(400);
    expect(refused.json.errors).toEqual([
      { in: 'path', name: 'model_name', message: expect.stringContaining('not an ONNX model') },
    ]);
    await bench.upload(digits);
    expect((await bench.accept()).status).toBe(200);
    const { items } = await listPurges(service.records, undefined);
    expect(items.map(({ target }) => target.prefixes)).toContainEqual([first]);
  });

  test('an Idempotency-Key signs anew for the same request', async () => {
    const query = { sha256: sha256(digits), size: String(digits.length) };
    const headers = { 'Idempotency-Key': bench.path.model_name };
    const first = await bench.create(query, headers);
    const again = await bench.create(query, headers);
    expect(again.headers['idempotency-replayed']).toBe('true');
    expect(again.json.model).toEqual(first.json.model);
    expect((await bench.create({ ...query, size: '1' }, headers)).status).toBe(422);
  });

  test('calibration and evaluation sets come with it or later, and may be replaced', async () => {
    await bench.upload(digits);
    await bench.upload(npz, { file: 'calibration' });
    const { json: first } = await bench.accept();
    expect(first).toMatchObject({ has_calibration: true, has_evaluation: false, bytes: digits.length });
    const other = zip({ 'image.npy': { content: randomBytes(65) } });
    await bench.upload(other, { file: 'calibration' });
    await bench.upload(npz, { file: 'evaluation' });
    expect((await read()).json).toMatchObject({ status: 'ready', pending: [{}, {}] });
    const { json: second } = await bench.accept();
    expect(second.files.map((file: { role: string; sha256: string }) => [file.role, file.sha256])).toEqual([
      ['model', sha256(digits)],
      ['calibration', sha256(other)],
      ['evaluation', sha256(npz)],
    ]);
    expect(second.digest).toBe(first.digest);
    await bench.upload(digits, { file: 'evaluation' });
    const refused = await bench.accept();
    expect([refused.status, refused.json.detail]).toEqual([
      400,
      expect.stringContaining('not an npz archive'),
    ]);
  });

  test('shapes are stored with it where they fit', async () => {
    await bench.upload(digits, { inputs: '2x1x8x8' });
    const { json } = await bench.accept({ outputs: 'logits:[2,10]' });
    expect(json.shapes).toEqual({ inputs: '2x1x8x8', outputs: 'logits:[2,10]' });
    const changed = await bench.accept({ inputs: '?x1x8x8' });
    expect(changed.json.shapes).toEqual({ inputs: '?x1x8x8', outputs: 'logits:[2,10]' });
    const refused = await bench.accept({ inputs: '1x3x8x8' });
    expect(refused.status).toBe(400);
    const message = '"image" is [batch, 1, 8, 8] in the model, but [1, 3, 8, 8] was requested';
    expect(refused.json.errors).toEqual([{ in: 'query', name: 'inputs', message }]);
    const unread = await bench.accept({ inputs: '1x3,' });
    expect(unread.json.errors).toEqual([
      { in: 'query', name: 'inputs', message: expect.stringContaining('[] is a scalar') },
    ]);
    expect((await read()).json.shapes).toEqual(changed.json.shapes);
  });
});

test('a model outlives its owner, as nobody’s', async () => {
  const leaving = await service.user('developer');
  const admin = await service.user('admin');
  const { model_name, model_id } = await recordedModel(service, leaving);
  const query = { username: leaving.user.username };
  expect((await service.call(deleteUser, { query, as: admin })).status).toBe(200);
  expect(await findModel(service.records, model_name)).toMatchObject({ model_id, owner: null, version: 2 });
});

describe('a list', () => {
  test('is by name and paged', async () => {
    const listed = await testService();
    const reader = await listed.user('viewer');
    for (const name of ['b', 'C', 'a-2', 'a-1']) await recordedModel(listed, owner, name);
    const names = async (query: string) => {
      const { json, headers } = await listed.call(listModels, { query, as: reader });
      return [json.map((one: { model_name: string }) => one.model_name), headers['link']];
    };
    expect(await names('')).toEqual([['C', 'a-1', 'a-2', 'b'], undefined]);
    const [first, link] = await names('limit=3');
    expect(first).toEqual(['C', 'a-1', 'a-2']);
    expect(await names(/^<\?(.*)>/.exec(String(link))![1]!)).toEqual([['b'], undefined]);
  });
});

describe('a request is refused', () => {
  const hash = 'a'.repeat(64);
  test.each<[string, Record<string, string>, [name: string, message: string][]]>([
    [
      'for nothing',
      {},
      [
        ['sha256', 'is required'],
        ['size', 'is required'],
      ],
    ],
    ['for an ONNX file beyond 2 GB', { sha256: hash, size: '2147483648' }, [['size', 'external data files']]],
    ['for data without a name', { file: 'data', sha256: hash, size: '1' }, [['name', 'is required']]],
    [
      'for a model with a name',
      { name: 'w.bin', sha256: hash, size: '1' },
      [['name', 'only with file=data']],
    ],
    [
      'for data outside',
      { file: 'data', name: '../w', sha256: hash, size: '1' },
      [['name', 'must be a path below the folder of the model']],
    ],
    [
      'for data that is the model',
      { file: 'data', name: 'model.onnx', sha256: hash, size: '1' },
      [['name', 'must not be']],
    ],
    ['for another file', { file: 'weights', sha256: hash, size: '1' }, [['file', 'must be one of']]],
    ['for an artifact without a path', { experiment_id: ulid().toLowerCase() }, [['path', 'is required']]],
    [
      'for a path alone',
      { path: 'm.onnx' },
      [
        ['path', 'needs experiment_id'],
        ['sha256', 'is required'],
        ['size', 'is required'],
      ],
    ],
    [
      'for both at once',
      { experiment_id: ulid().toLowerCase(), path: 'm', sha256: hash, size: '1' },
      [
        ['sha256', 'either upload'],
        ['size', 'either upload'],
      ],
    ],
    [
      'for shapes that are none',
      { sha256: hash, size: '1', inputs: 'batch' },
      [['inputs', 'not a dimension']],
    ],
  ])('%s', async (_, query, faults) => {
    const { status, json } = await bench.create(query);
    expect(status).toBe(400);
    expect(json.errors).toEqual(
      faults.map(([name, message]) => ({ in: 'query', name, message: expect.stringContaining(message) })),
    );
    expect((await read()).status).toBe(404);
  });

  test('to whom the model does not belong', async () => {
    await bench.upload(digits);
    const stranger = modelBench(service, await service.user('developer'), bench.path.model_name);
    for (const answer of [await stranger.announce(digits), await stranger.accept()]) {
      expect([answer.status, answer.json.detail]).toEqual([403, expect.stringContaining('another user')]);
    }
    const admin = modelBench(service, await service.user('admin'), bench.path.model_name);
    expect((await admin.accept()).json).toMatchObject({ status: 'ready', owner: owner.user.username });
  });

  test('for what was not asked for', async () => {
    expect((await bench.accept()).status).toBe(404);
    expect((await remove()).status).toBe(404);
    await bench.upload(npz, { file: 'calibration' });
    const early = await bench.accept();
    expect([early.status, early.json.detail]).toEqual([409, expect.stringContaining('ONNX file has not')]);
  });
});
