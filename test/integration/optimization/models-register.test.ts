import { buffer } from 'node:stream/consumers';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type ObjectWriter, objectWriter } from '../../../shared/aws/objects.ts';
import { s3 } from '../../../shared/aws/s3-client.ts';
import { newId } from '../../../shared/core/new-id.ts';
import { issueToken } from '../../../shared/data/accounts/token.ts';
import { artifactObject } from '../../../shared/data/experiments/artifact.ts';
import { putExperiment } from '../../../shared/data/experiments/experiment.ts';
import { jobPartition } from '../../../shared/data/jobs/job.ts';
import { findModel, modelPrefix, putModel, requireReadyModel } from '../../../shared/data/models/model.ts';
import { ModelError } from '../../../shared/onnx/model/model-error.ts';
import { type CompressionResult, modelOfResult } from '../../../shared/onnx-models/register-model.ts';
import { experimentOf } from '../../support/experiment.ts';
import { onnxFixture } from '../../support/model.ts';
import { seededBytes } from '../../support/seeded-bytes.ts';
import { type TestService, type TestUser, testService } from '../../support/service.ts';
import { zip } from '../archive/archive-bytes.ts';
import { newProject } from '../projects/new-project.ts';
import { sha256 } from '../projects/upload-file.ts';
import { modelBench } from './model-bench.ts';

const randomBytes = seededBytes(3);

const digits = onnxFixture('digits.onnx');
const npz = zip({ 'image.npy': { content: randomBytes(64) } });
const binary = 'application/octet-stream';

let service: TestService;
let owner: TestUser;
let objects: ObjectWriter;
let bench: ReturnType<typeof modelBench>;
let project_id: string;
let experiment_id: string;

beforeAll(async () => {
  service = await testService({ LOG_LEVEL: 'error' });
  owner = await service.user('developer');
  objects = objectWriter(s3(service.environment), service.environment['BUCKET'] ?? '');
  project_id = await newProject(service, owner);
  const experiment = experimentOf(project_id, 0.5);
  experiment_id = experiment.experiment_id;
  await service.records.write(putExperiment(experiment));
});

beforeEach(() => {
  bench = modelBench(service, owner, `m${newId()}`);
});

const register = (query: Record<string, string>) => bench.create({ experiment_id, ...query });

describe('an artifact', () => {
  async function artifact(path: string, bytes: Uint8Array): Promise<string> {
    const object = artifactObject(project_id, experiment_id, newId());
    await objects.put(object, bytes, binary);
    const value = { path, size: bytes.length, sha256: sha256(bytes), media_type: binary, object };
    const key = { pk: jobPartition(experiment_id), sk: `ARTIFACT#${path}` };
    const item = { ...key, ...value, record_type: 'artifact', schema_version: 0 };
    await service.records.write({ put: { ...item, created_at: '2026-01-02T03:04:05.000Z' } });
    return object;
  }

  beforeAll(async () => {
    await artifact('digits.onnx', digits);
    await artifact('notes.txt', Buffer.from('no model'));
    await artifact('sets/calibration.npz', npz);
    for (const name of ['pair.onnx', 'w1.bin', 'w2.bin']) await artifact(`best/${name}`, onnxFixture(name));
    await artifact('half/pair.onnx', onnxFixture('pair.onnx'));
    await artifact('half/w1.bin', onnxFixture('w1.bin'));
  });

  test('becomes a model by a token with a scope to its project alone', async () => {
    const scopedTo = async (projects: string[]) => {
      const options = { token_id: newId(), now: new Date(), seconds: 3600, name: 'agent' };
      const scope = { rights: 'run' as const, projects };
      const { bearer } = await issueToken(service.accounts, owner.user, { ...options, scope });
      return modelBench(service, { ...owner, token: bearer }, `m${newId()}`);
    };
    const query = { experiment_id, path: 'digits.onnx' };

    const inside = await (await scopedTo([project_id])).create(query);
    const outside = await (await scopedTo([newId()])).create(query);

    expect([inside.status, outside.status]).toEqual([200, 403]);
  });

  test('becomes a model by a copy, which outlives it', async () => {
    const object = await artifact('passing.onnx', digits);
    const { status, json } = await register({
      path: 'passing.onnx',
      calibration: 'sets/calibration.npz',
      inputs: '1x1x8x8',
    });
    expect(status).toBe(200);
    expect(json).toMatchObject({ upload: null, parts: null, expires_in: null });
    expect(json.model).toMatchObject({
      status: 'ready',
      origin: { kind: 'artifact', project_id, experiment_id, path: 'passing.onnx' },
      digest: sha256(digits),
      has_calibration: true,
      shapes: { inputs: '1x1x8x8', outputs: null },
      pending: [],
    });
    await objects.delete([object]);
    const { files, model_id } = await requireReadyModel(service.records, bench.path.model_name);
    for (const file of files) {
      expect(file.object.startsWith(modelPrefix(model_id))).toBe(true);
      const copied = await buffer((await objects.read(file.object))!);
      expect(sha256(copied)).toBe(file.sha256);
    }
  });

  test('brings the external data beside it', async () => {
    const { json } = await register({ path: 'best/pair.onnx' });
    const names = json.model.files.map(({ name }: { name: string }) => name);
    expect(names).toEqual(['model.onnx', 'w1.bin', 'w2.bin']);
    const half = modelBench(service, owner, `m${newId()}`);
    const refused = await half.create({ experiment_id, path: 'half/pair.onnx' });
    expect([refused.status, refused.json.errors]).toEqual([
      400,
      [{ in: 'query', name: 'path', message: 'External data: w2.bin is missing.' }],
    ]);
    expect(await findModel(service.records, half.path.model_name)).toBeUndefined();
  });

  test('registered again is the same model, also where the first attempt died half-way', async () => {
    const first = await register({ path: 'digits.onnx' });
    expect((await register({ path: 'digits.onnx' })).json).toEqual(first.json);
    const ready = await requireReadyModel(service.records, bench.path.model_name);
    const pending = ready.files.map(({ verified, ...file }) => ({ ...file, parts: null }));
    const died = { ...ready, status: 'uploading' as const, digest: null, summary: null, files: [], pending };
    await objects.delete(pending.map(({ object }) => object));
    await putModel(service.records, { ...died, version: ready.version + 1 }, ready);
    const upload = await bench.announce(digits);
    expect([upload.status, upload.json.detail]).toEqual([
      409,
      expect.stringContaining('registered by copies'),
    ]);
    const { json } = await register({ path: 'digits.onnx' });
    expect(json.model).toMatchObject({ status: 'ready', model_id: ready.model_id });
    expect(await objects.head(ready.files[0]!.object)).toMatchObject({ size: digits.length });
    const other = await register({ path: 'best/pair.onnx' });
    expect([other.status, other.json.detail]).toEqual([409, expect.stringContaining('never change')]);
  });

  test('gives a model its sets later, as often as one likes, and each outlives it', async () => {
    const calibration = 'sets/calibration.npz';
    expect((await register({ calibration })).status).toBe(404);
    await register({ path: 'digits.onnx' });
    const object = await artifact('sets/test.npz', npz);
    const added = await register({ calibration, evaluation: 'sets/test.npz', inputs: '1x1x8x8' });
    expect([added.status, added.json.upload]).toEqual([200, null]);
    expect(added.json.model).toMatchObject({
      status: 'ready',
      digest: sha256(digits),
      has_calibration: true,
      has_evaluation: true,
      pending: [],
      shapes: { inputs: '1x1x8x8', outputs: null },
    });
    expect((await register({ calibration, evaluation: 'sets/test.npz' })).json.model).toEqual(
      added.json.model,
    );
    await objects.delete([object]);
    const { files, model_id } = await requireReadyModel(service.records, bench.path.model_name);
    expect(files.map(({ role }) => role)).toEqual(['model', 'calibration', 'evaluation']);
    for (const file of files) {
      expect(file.object.startsWith(modelPrefix(model_id))).toBe(true);
      expect(sha256(await buffer((await objects.read(file.object))!))).toBe(file.sha256);
    }
    const other = zip({ 'image.npy': { content: randomBytes(32) } });
    await artifact('sets/other.npz', other);
    const { json } = await register({ evaluation: 'sets/other.npz' });
    const sets = json.model.files.filter(({ role }: { role: string }) => role === 'evaluation');
    expect(sets).toMatchObject([{ sha256: sha256(other) }]);
  });

  test('is no set where it is no npz, or the shapes are others', async () => {
    const { json } = await register({
      path: 'digits.onnx',
      calibration: 'notes.txt',
      evaluation: 'digits.onnx',
    });
    expect(json.errors).toEqual([
      {
        in: 'query',
        name: 'calibration',
        message: 'notes.txt is not an npz archive as numpy.savez writes it.',
      },
      {
        in: 'query',
        name: 'evaluation',
        message: 'digits.onnx is not an npz archive as numpy.savez writes it.',
      },
    ]);
    expect((await register({})).json.errors[0].message).toContain('or give a calibration or evaluation set');
    await register({ path: 'digits.onnx' });
    const calibration = 'sets/calibration.npz';
    expect((await register({ calibration: 'notes.txt' })).json.errors[0].name).toBe('calibration');
    expect((await register({ calibration: 'absent.npz' })).status).toBe(404);
    expect((await register({ calibration, inputs: '1x3x8x8' })).json.errors[0].name).toBe('inputs');
    const stranger = modelBench(service, await service.user('developer'), bench.path.model_name);
    expect((await stranger.create({ experiment_id, calibration })).status).toBe(403);
    const { files, pending } = await requireReadyModel(service.records, bench.path.model_name);
    expect([files.length, pending]).toEqual([1, []]);
  });

  test('of which there is none, or that is no model, is refused', async () => {
    expect((await register({ path: 'absent.onnx' })).status).toBe(404);
    expect((await register({ path: 'digits.onnx', calibration: 'absent.npz' })).status).toBe(404);
    expect((await bench.create({ experiment_id: newId(), path: 'digits.onnx' })).status).toBe(404);
    const text = await register({ path: 'notes.txt' });
    expect([text.status, text.json.detail]).toEqual([400, expect.stringContaining('not an ONNX model')]);
    const shape = await register({ path: 'digits.onnx', inputs: '1x3x8x8' });
    expect([shape.status, shape.json.detail]).toEqual([
      400,
      expect.stringContaining('[1, 3, 8, 8] was requested'),
    ]);
    expect(await findModel(service.records, bench.path.model_name)).toBeUndefined();
  });

  test('cannot take the name of a model of somebody else', async () => {
    await bench.upload(digits);
    const stranger = modelBench(service, await service.user('developer'), bench.path.model_name);
    expect((await stranger.create({ experiment_id, path: 'digits.onnx' })).status).toBe(403);
  });
});

describe('the result of a strategy', () => {
  async function result(): Promise<CompressionResult> {
    await bench.upload(digits);
    await bench.upload(npz, { file: 'evaluation' });
    await bench.accept({ inputs: '1x1x8x8' });
    const strategy_id = newId();
    const object = `strategies/${strategy_id}/model.onnx`;
    await objects.put(object, digits, binary);
    return {
      result_name: `r${newId()}`,
      strategy_id,
      owner: owner.user.username,
      owner_id: owner.user.user_id,
      source: await requireReadyModel(service.records, bench.path.model_name),
      files: [
        {
          role: 'model',
          name: 'model.onnx',
          size: digits.length,
          sha256: sha256(digits),
          object,
          verified: true,
        },
      ],
    };
  }
  const registrar = () => ({ records: service.records, objects, now: () => new Date(), newId });

  test('becomes a model with the sets and shapes of its source once that is recorded', async () => {
    const made = await result();
    const model = await modelOfResult(registrar(), made);
    expect(await findModel(service.records, made.result_name)).toBeUndefined();
    expect(model).toMatchObject({
      model_id: made.strategy_id,
      status: 'ready',
      origin: { kind: 'strategy', strategy_id: made.strategy_id, model_name: bench.path.model_name },
      shapes: { inputs: '1x1x8x8', outputs: null },
      digest: sha256(digits),
    });
    expect(model.files.map(({ role }) => role)).toEqual(['model', 'evaluation']);
    for (const { object, size } of model.files) expect(await objects.head(object)).toMatchObject({ size });
    await putModel(service.records, model, undefined);
    expect(await requireReadyModel(service.records, made.result_name)).toEqual(model);
    await expect(modelOfResult(registrar(), made)).rejects.toThrow('A model named');
  });

  test('is told where its name is taken or its file is gone', async () => {
    const made = await result();
    const { model_name } = bench.path;
    await expect(modelOfResult(registrar(), { ...made, result_name: model_name })).rejects.toThrow(
      `A model named ${model_name} already exists`,
    );
    await objects.delete(made.files.map(({ object }) => object));
    await expect(modelOfResult(registrar(), made)).rejects.toThrow(ModelError);
  });
});
