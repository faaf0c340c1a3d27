import { beforeAll, describe, expect, test } from 'vitest';
import { event as exportsEvent } from '../../../functions/events/exports.event.ts';
import { endpoint as createExport } from '../../../functions/optimization/exports/create-export.endpoint.ts';
import { endpoint as rerunExperiment } from '../../../functions/projects/training/rerun-experiment.endpoint.ts';
import { endpoint as putVariables } from '../../../functions/projects/variables/put-variables.endpoint.ts';
import { objectWriter } from '../../../shared/aws/objects.ts';
import { s3 } from '../../../shared/aws/s3-client.ts';
import { openSealed } from '../../../shared/core/encryption.ts';
import { createLogger } from '../../../shared/core/log.ts';
import { newId } from '../../../shared/core/new-id.ts';
import { readSettings } from '../../../shared/core/settings.ts';
import { artifactObject } from '../../../shared/data/experiments/artifact.ts';
import {
  type Experiment,
  putExperiment,
  requireExperiment,
} from '../../../shared/data/experiments/experiment.ts';
import { findExportStep, putExportStep } from '../../../shared/data/experiments/export-step.ts';
import { jobPartition } from '../../../shared/data/jobs/job.ts';
import {
  jobVariablesPurpose,
  parseJobVariables,
  readJobVariables,
} from '../../../shared/data/jobs/job-variables.ts';
import { requireCompression } from '../../../shared/data/models/compression.ts';
import { findModel, requireReadyModel } from '../../../shared/data/models/model.ts';
import type { TableWriter } from '../../../shared/data/table/table.ts';
import { concludeJob } from '../../../shared/jobs/conclusion.ts';
import { handOverVariables } from '../../../shared/jobs/submission.ts';
import { idleBatch } from '../../support/ended-run.ts';
import { experimentOf } from '../../support/experiment.ts';
import { onnxFixture } from '../../support/model.ts';
import { type TestService, type TestUser, testService } from '../../support/service.ts';
import { zip } from '../archive/archive-bytes.ts';
import { newProject } from '../projects/new-project.ts';
import { sha256 } from '../projects/upload-file.ts';
import { json } from '../users/body.ts';

const hub = 'an-owner/a-model';
const commit = '0123456789abcdef0123456789abcdef01234567';
const report = {
  source: { hub: 'huggingface', id: 'of/another', revision: commit, licence: 'mit', files: {} },
  ...{ task: 'text-classification', way: 'dynamo', remote_code: false, opset: 20 },
};
const sets = zip({ 'image.npy': { content: Buffer.alloc(64) } });

let service: TestService;
let owner: TestUser;
let project_id: string;

beforeAll(async () => {
  service = await testService({ BATCH_ENDPOINT: 'http://127.0.0.1:9', LOG_LEVEL: 'error' });
  owner = await service.user('developer');
  project_id = await newProject(service, owner);
});

const ask = (body: object, as = owner, headers = {}) => {
  const call = json({ project_id, source: { hf: hub }, name: `m${newId()}`, ...body });
  return service.call(createExport, { ...call, headers: { ...call.headers, ...headers }, as });
};

async function putFiles(experiment_id: string, files: Readonly<Record<string, Uint8Array>>): Promise<void> {
  const objects = objectWriter(s3(service.environment), service.environment['BUCKET'] ?? '');
  for (const [path, bytes] of Object.entries(files)) {
    const object = artifactObject(project_id, experiment_id, newId());
    const media_type = 'application/octet-stream';
    await objects.put(object, bytes, media_type);
    const key = { pk: jobPartition(experiment_id), sk: `ARTIFACT#${path}` };
    const value = { path, size: bytes.length, sha256: sha256(bytes), media_type, object };
    const item = { ...key, ...value, record_type: 'artifact', schema_version: 0 };
    await service.records.write({ put: { ...item, created_at: '2026-01-02T03:04:05.000Z' } });
  }
}

const read = (experiment_id: string) => requireExperiment(service.records, project_id, experiment_id);

/** An export that has succeeded and left these files. */
async function exported(
  body: object = {},
  files: Readonly<Record<string, Uint8Array>> = {},
): Promise<string> {
  const { json: made, status, text } = await ask(body);
  expect(status, text).toBe(200);
  const usual = {
    'model.onnx': onnxFixture('digits.onnx'),
    'tokenizer.json': Buffer.from('{}'),
    'calibration.npz': sets,
    'evaluation.npz': sets,
    'export.json': Buffer.from(JSON.stringify(report)),
  };
  await putFiles(made.experiment_id, { ...usual, ...files });
  const ended = { status: 'SUCCEEDED', reason: null } as const;
  await concludeJob(service.records, await read(made.experiment_id), ended, new Date());
  return made.experiment_id;
}

const look = (records: TableWriter<'records'> = service.records) => {
  const settings = readSettings(service.environment);
  const objects = objectWriter(s3(service.environment), settings.bucket);
  return exportsEvent.run(
    { repeats: true },
    {
      ...{ records, settings, models: objects, artifacts: objects, users: service.accounts },
      ...{ keys: service.accounts, batch: idleBatch, now: () => new Date() },
      log: createLogger('error', () => {}),
    },
  );
};

describe('a request for an export', () => {
  test('makes an experiment with the pinned environment and what follows, once for each key', async () => {
    const key = { 'Idempotency-Key': newId() };
    const body = { name: 'tiny', for: 'c7g', max_loss: 0.02, task: 'text-classification' };
    const first = await ask(body, owner, key);
    const again = await ask(body, owner, key);

    expect(first.status, first.text).toBe(200);
    expect(again.json.experiment_id).toBe(first.json.experiment_id);
    expect(first.json).toMatchObject({
      ...{ name: 'export tiny', project_id, config_id: 'export.json', source_sha256: null },
      params: { 'source.hf': hub, task: 'text-classification', trust_remote_code: 'false' },
      model_export: {
        source: { hf: hub, revision: null, commit: null },
        model_name: 'tiny',
        result_name: 'tiny-small',
      },
    });
    const { environment, model_export } = await read(first.json.experiment_id);
    expect(environment).toMatchObject({
      env_type: 'python',
      dependencies: expect.stringMatching(/^torch==/m),
    });
    expect(model_export?.compression).toMatchObject({
      strategy: 'auto',
      for: 'arm64-dotprod',
      max_loss: 0.02,
    });
  });

  test.each([
    ['a repository of no such form', { source: { hf: '../../etc' } }, 'source'],
    ['a revision that climbs', { source: { hf: hub, revision: '../main' } }, 'source'],
    ['a folder that climbs', { source: { experiment_id: newId(), path: 'a/../../b' } }, 'source'],
    ['two sources', { source: { hf: hub, experiment_id: newId() } }, 'source'],
    ['no project', { project_id: undefined }, 'project_id'],
    ['an unknown processor', { for: 'i386' }, 'for'],
    ['a loss of more than all', { max_loss: 1.5 }, 'max_loss'],
    ['a size that is not offered', { vcpus: 3 }, 'vcpus'],
  ])('is refused with %s', async (_, body, name) => {
    const { status, json: problem } = await ask(body);

    expect([status, problem.errors?.[0].in]).toEqual([400, 'body']);
    expect(problem.errors[0].name).toMatch(new RegExp(`^${name}`));
  });

  test('reaches no project and no experiment of others', async () => {
    const other = await service.user('developer');
    const theirs = experimentOf(await newProject(service, other), 0.5);
    await service.records.write(putExperiment(theirs));

    const inProject = await ask({}, other);
    const ofNoFiles = await ask({ source: { experiment_id: theirs.experiment_id } });

    expect([inProject.status, ofNoFiles.status]).toEqual([403, 404]);
  });

  test('is refused if one of its models exists', async () => {
    const experiment_id = await exported({ name: 'taken' });
    await look();

    const { status, json: problem } = await ask({ name: 'taken' });

    expect([status, problem.errors[0].name]).toEqual([409, 'name']);
    expect((await read(experiment_id)).model_export?.reason).toBeNull();
  });
});

test('an export gets the token of the Hub, masked, and no other secret of its project', async () => {
  const secretive = await newProject(service, owner);
  const variables = [
    { name: 'HF_TOKEN', value: 'hf_plain_but_secret', secret: false },
    { name: 'DATABASE_URL', value: 'postgres://ann:secret@db' },
    { name: 'PIP_INDEX_URL', value: 'https://ann:secret@index.example/simple' },
    { name: 'HTTPS_PROXY', value: 'http://proxy.example:3128', secret: false },
    { name: 'STAGE', value: 'test', secret: false },
  ];
  const set = await service.call(putVariables, {
    ...json({ variables }),
    path: { project_id: secretive },
    as: owner,
  });
  expect(set.status, set.text).toBe(200);
  const { json: made } = await ask({ project_id: secretive });
  const { experiment_id } = made;
  const record = await requireExperiment(service.records, secretive, experiment_id);

  const handed = await handOverVariables(service.records, service.accounts, record);

  const sealed = await readJobVariables(service.records, jobPartition(experiment_id));
  const key = Buffer.from(handed['VARIABLES_KEY'] ?? '', 'base64url');
  const copied = parseJobVariables(openSealed(key, sealed!, jobVariablesPurpose(experiment_id)));
  expect(copied.map(({ name, secret }) => [name, secret]).sort()).toEqual([
    ['HF_TOKEN', true],
    ['HTTPS_PROXY', false],
  ]);
});

describe('the end of an export', () => {
  test('registers its model with where it comes from, and begins one compression, through kills and twice', async () => {
    const experiment_id = await exported({ name: 'chained', for: 'm7i' });
    for (let writes = 0; writes < 6; writes += 1) {
      let left = writes;
      const mortal: TableWriter<'records'> = {
        ...service.records,
        async write(...all) {
          left -= 1;
          if (left < 0) throw new Error('killed');
          await service.records.write(...all);
        },
      };
      await look(mortal);
    }
    await Promise.all([look(), look()]);
    const { model_export } = await read(experiment_id);
    const late = { experiment_id, project_id, created_at: new Date().toISOString() };
    await service.records.write(putExportStep(late));
    await look();

    const model = await requireReadyModel(service.records, 'chained');
    expect(model).toMatchObject({
      origin: { kind: 'artifact', project_id, experiment_id, path: 'model.onnx' },
      lineage: { source: { id: hub, revision: commit, licence: 'mit' }, way: 'dynamo' },
    });
    expect(model.files.map(({ name }) => name).sort()).toEqual([
      ...['calibration.npz', 'evaluation.npz', 'model.onnx', 'tokenizer.json'],
    ]);
    expect((await read(experiment_id)).model_export).toEqual(model_export);
    const compression = await requireCompression(
      service.records,
      'quantize',
      model_export?.strategy_id ?? '',
    );
    expect(compression).toMatchObject({
      ...{ model_name: 'chained', result_name: 'chained-small', project_id, user_id: owner.user.user_id },
      ...{ request: { strategy: 'auto', for: 'avx512-vnni' } },
    });
    const { items } = await service.records.query({ pk: 'UNFINISHED_JOBS' });
    expect(items.filter(({ sk }) => sk === compression.strategy_id)).toHaveLength(1);
    expect(await findExportStep(service.records, experiment_id)).toBeUndefined();
  });

  test.each([
    ['no model', { 'model.onnx': Buffer.from('not ONNX') }, /ONNX|model/i],
    ['a set that is none', { 'evaluation.npz': Buffer.from('text') }, /evaluation|npz/],
  ])('says why there is no model after %s, and leaves nothing to do', async (_, files, why) => {
    const experiment_id = await exported({}, files);

    await look();

    const { model_export } = await read(experiment_id);
    expect(model_export?.reason).toMatch(why);
    expect(model_export?.strategy_id).toBeNull();
    expect(await findExportStep(service.records, experiment_id)).toBeUndefined();
  });

  test('begins nothing after a failure, nor for a user who is no member any more', async () => {
    const { json: failed } = await ask({});
    const end = { status: 'FAILED', reason: 'The model is gated.' } as const;
    await concludeJob(service.records, await read(failed.experiment_id), end, new Date());
    const gone = await exported({ name: 'left' });
    const experiment: Experiment = await read(gone);
    const stranger = { ...experiment, user_id: newId() };
    const without = {
      ...service.records,
      get: async (...key: Parameters<TableWriter<'records'>['get']>) => {
        const item = await service.records.get(...key);
        return item?.['experiment_id'] === gone && item.pk.startsWith('EXPERIMENTS')
          ? { ...item, user_id: stranger.user_id }
          : item;
      },
    };

    await look(without as TableWriter<'records'>);

    expect(await findExportStep(service.records, failed.experiment_id)).toBeUndefined();
    expect((await read(gone)).model_export?.reason).toMatch(/was deleted/);
    expect(await findModel(service.records, 'left')).toBeUndefined();
  });
});

test('an export is not run again as a training is', async () => {
  const experiment_id = await exported();
  await look();

  const again = await service.call(rerunExperiment, { path: { project_id, experiment_id }, as: owner });

  expect([again.status, again.json.detail]).toEqual([409, expect.stringContaining('/optimization/exports')]);
});
