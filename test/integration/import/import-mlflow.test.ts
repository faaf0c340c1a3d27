import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { importRuns } from '../../../cli/import/import-runs.ts';
import type { RunSource } from '../../../cli/import/source.ts';
import { mlflowFolder } from '../../../cli/import/sources/mlflow-folder.ts';
import { mlflowServer } from '../../../cli/import/sources/mlflow-server.ts';
import { TrackingApi } from '../../../cli/import/tracking-api.ts';
import { everySample } from '../../support/samples.ts';
import { type TestService, testService } from '../../support/service.ts';
import { mlflowBridge } from './mlflow-bridge.ts';

let service: TestService;
let folder: string;
beforeAll(async () => {
  service = await testService();
  folder = await mkdtemp(join(tmpdir(), 'mlruns-'));
  const files: Record<string, string> = {
    '1/meta.yaml': "experiment_id: '1'\nname: digits\nlifecycle_stage: active\n",
    '1/tags/team': 'vision',
    '1/aa/meta.yaml':
      'run_id: aa\nrun_name: child\nuser_id: ada\nstatus: 3\nstart_time: 1700000000000\nend_time: 1700000009000\nlifecycle_stage: active\n',
    '1/aa/tags/mlflow.parentRunId': 'bb',
    '1/bb/meta.yaml':
      'run_id: bb\nrun_name: parent\nuser_id: ada\nstatus: 4\nstart_time: 1700000000000\nend_time: 1700000005000\nlifecycle_stage: active\n',
    '1/bb/params/model/depth': '3',
    '1/bb/metrics/val/loss':
      '1700000000000 0.5 0\n1700000001000 nan 1\n1700000001000 nan 1\n1700000002000 -inf 2\n',
    '1/bb/artifacts/model/MLmodel': 'flavors: {}\n',
    '.trash/2/meta.yaml': "experiment_id: '2'\nname: given up\nlifecycle_stage: deleted\n",
    '.trash/2/cc/meta.yaml': 'run_id: cc\nstatus: 1\nstart_time: 1700000000000\nlifecycle_stage: deleted\n',
    'models/churn/meta.yaml': 'name: churn\ndescription: Who leaves\n',
    'models/churn/aliases/champion': '3',
    'models/churn/version-1/meta.yaml': 'version: 1\nsource: s3://models/churn\ncurrent_stage: None\n',
    'models/churn/version-3/meta.yaml':
      'version: 3\nsource: runs:/bb/model\nrun_id: bb\ncurrent_stage: Production\n',
  };
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
  await symlink('/etc/hostname', join(folder, '1/bb/artifacts/link'));
});
afterAll(() => rm(folder, { recursive: true }));

/** Import what a source holds. */
const bring = (source: RunSource, api: TrackingApi) =>
  importRuns({ source, api, rename: (name) => name }, () => undefined);

async function target() {
  const bridge = await mlflowBridge(service, await service.user('developer'));
  return { bridge, api: new TrackingApi(bridge.url, undefined) };
}

/** Everything that a source holds, without the ids that differ from one service to the next. */
async function contentOf(api: TrackingApi) {
  const source = mlflowServer(api);
  const found: unknown[] = [];
  for await (const experiment of source.experiments()) {
    const { id: _, tags, ...described } = experiment;
    found.push({ ...described, tags: tags.filter(({ key }) => key === 'team') });
    for await (const { id, artifactUri: _uri, state: _state, tags: own, ...run } of source.runs(experiment)) {
      const points = [];
      for await (const page of source.points({ ...run, id, tags: [], artifactUri: '' })) points.push(...page);
      const files = [];
      for await (const file of source.files({ ...run, id, tags: [], artifactUri: '' })) files.push(file);
      const imported = own.find(({ key }) => key === 'import.run_id')?.value;
      found.push({ ...run, imported: imported !== undefined, points, files });
    }
  }
  return found;
}

test('a folder of MLflow comes whole, once, and goes on after an interruption', async () => {
  const { bridge, api } = await target();
  try {
    bridge.refuse('/api/2.0/mlflow/runs/update');
    const first = await bring(mlflowFolder(folder), api);
    expect(first.failures).toHaveLength(1);
    const second = await bring(mlflowFolder(folder), api);
    expect(second.failures).toEqual([]);
    expect(second).toMatchObject({ experiments: 2, runs: 3, known: 2, models: 1, versions: 2 });
    const third = await bring(mlflowFolder(folder), api);
    expect(third).toMatchObject({ runs: 3, known: 3, points: 0, files: 0, failures: [] });
    const content = await contentOf(api);
    expect(content).toContainEqual({ name: 'given up', isDeleted: true, tags: [] });
    expect(content).toContainEqual({
      name: 'parent',
      status: 'FAILED',
      user: 'ada',
      start: 1700000000000,
      end: 1700000005000,
      isDeleted: false,
      params: [{ key: 'model/depth', value: '3' }],
      datasets: [],
      imported: true,
      points: [
        { key: 'val/loss', value: 0.5, timestamp: 1700000000000, step: 0 },
        { key: 'val/loss', value: 'NaN', timestamp: 1700000001000, step: 1 },
        { key: 'val/loss', value: '-Infinity', timestamp: 1700000002000, step: 2 },
      ],
      files: [{ path: 'model/MLmodel', size: 12 }],
    });
    const [model] = await Array.fromAsync(mlflowServer(api).models());
    expect(model).toMatchObject({
      name: 'churn',
      description: 'Who leaves',
      aliases: [{ alias: 'champion', version: 3 }],
    });
    expect(model?.versions.map(({ number, stage }) => [number, stage])).toEqual([
      [1, 'None'],
      [3, 'Production'],
    ]);
    const runs = await Array.fromAsync(mlflowServer(api).experiments());
    const digits = runs.find(({ name }) => name === 'digits');
    const children = digits === undefined ? [] : await Array.fromAsync(mlflowServer(api).runs(digits));
    const parent = children.find(({ name }) => name === 'parent');
    const child = children.find(({ name }) => name === 'child');
    expect(child?.tags).toContainEqual({ key: 'mlflow.parentRunId', value: parent?.id });
    expect(model?.versions.at(-1)?.source).toBe(`${parent?.artifactUri}/model`);
    expect(model?.versions.at(-1)?.runId).toBe(parent?.id);
  } finally {
    await bridge.close();
  }
});

test('a server of MLflow comes whole, and what does not fit is named', async () => {
  const from = await target();
  const to = await target();
  try {
    const create = await from.api.send('POST mlflow/experiments/create', { body: { name: 'audio' } });
    const { experiment_id } = (await create.json()) as { experiment_id: string };
    const made = await from.api.send('POST mlflow/runs/create', {
      body: { experiment_id, run_name: 'one', start_time: 1_700_000_000_000 },
    });
    const { run } = (await made.json()) as { run: { info: { run_id: string; artifact_uri: string } } };
    const { run_id, artifact_uri } = run.info;
    const metrics = Array.from({ length: 1000 }, (_, step) => ({
      key: 'loss',
      value: 1 / (step + 1),
      timestamp: 1_700_000_000_000 + step,
      step,
    }));
    await from.api.run('POST mlflow/runs/log-batch', { body: { run_id, metrics } });
    const wide = {
      name: 'wide',
      digest: 'd',
      source_type: 'local',
      source: 's',
      schema: 'a'.repeat(390_000),
    };
    await from.api.run('POST mlflow/runs/log-inputs', {
      body: { run_id, datasets: [{ tags: [], dataset: wide }] },
    });
    const large = Buffer.alloc(5_000_000, 'ab');
    const path = artifact_uri.replace('mlflow-artifacts:/', '');
    // More than one request takes: it comes and goes in parts.
    const begun = await from.api.send(`POST mlflow-artifacts/mpu/create/${path}`, {
      body: { path: 'large.bin', num_parts: 1 },
    });
    const { upload_id, credentials } = (await begun.json()) as {
      upload_id: string;
      credentials: { url: string }[];
    };
    const { url = '' } = credentials[0] ?? {};
    await (await fetch(url, { method: 'PUT', body: large })).arrayBuffer();
    await from.api.run(`POST mlflow-artifacts/mpu/complete/${path}`, {
      body: { path: 'large.bin', upload_id, parts: [{ part_number: 1 }] },
    });
    await from.api.run('POST mlflow/registered-models/create', { body: { name: 'taken' } });
    const imported = await bring(mlflowServer(from.api), to.api);
    expect(imported).toMatchObject({ runs: 1, points: 1000, files: 1, bytes: 5_000_000 });
    expect(imported.failures.find((failure) => failure.startsWith('model taken: '))).toMatch(
      'belongs to another user',
    );
    expect(JSON.stringify(await contentOf(to.api))).toContain(wide.schema);
    const sent = (await contentOf(from.api)) as { imported?: boolean }[];
    const arrived = await contentOf(to.api);
    expect(arrived).toEqual(sent.map((row) => ('imported' in row ? { ...row, imported: true } : row)));
  } finally {
    await from.bridge.close();
    await to.bridge.close();
  }
});

test('a model that MLflow 3 has logged comes from a server as artifacts of its run', async () => {
  const from = await target();
  const to = await target();
  try {
    const create = await from.api.send('POST mlflow/experiments/create', { body: { name: 'speech' } });
    const { experiment_id } = (await create.json()) as { experiment_id: string };
    const made = await from.api.send('POST mlflow/runs/create', {
      body: { experiment_id, run_name: 'one', start_time: 1_700_000_000_000 },
    });
    const { run } = (await made.json()) as { run: { info: { run_id: string } } };
    const logged = await from.api.send('POST mlflow/logged-models', {
      body: { experiment_id, name: 'net', source_run_id: run.info.run_id },
    });
    const { model } = (await logged.json()) as {
      model: { info: { model_id: string; artifact_uri: string } };
    };
    const path = model.info.artifact_uri.replace('mlflow-artifacts:/', '');
    const bytes = Buffer.from('flavors: {}\n');
    await from.api.run(`PUT mlflow-artifacts/artifacts/${path}/data/MLmodel`, { bytes });

    const imported = await bring(mlflowServer(from.api), to.api);

    expect(imported).toMatchObject({ runs: 1, files: 1, bytes: bytes.length });
    const files = (await contentOf(to.api)).flatMap((row) => (row as { files?: object[] }).files ?? []);
    expect(files).toEqual([{ path: 'net/data/MLmodel', size: bytes.length }]);
  } finally {
    await from.bridge.close();
    await to.bridge.close();
  }
});

test('a version of a model that MLflow 3 has logged finds its files among the artifacts of the run', async () => {
  const { bridge, api } = await target();
  const top = join(folder, 'third', 'mlruns');
  const files = {
    '1/meta.yaml': "experiment_id: '1'\nname: speech of three\nlifecycle_stage: active\n",
    '1/aa/meta.yaml': 'run_id: aa\nrun_name: one\nstatus: 3\nlifecycle_stage: active\n',
    '1/models/m-9/meta.yaml':
      'model_id: m-9\nname: net\nsource_run_id: aa\nartifact_location: file:///elsewhere/m-9/artifacts\n',
    '1/models/m-9/artifacts/MLmodel': 'flavors: {}\n',
    'models/speaker/meta.yaml': 'name: speaker\n',
    'models/speaker/version-1/meta.yaml': 'version: 1\nsource: models:/m-9\nrun_id: aa\n',
    'models/speaker/version-2/meta.yaml': 'version: 2\nsource: file:///elsewhere/m-9/artifacts\nrun_id: aa\n',
  };
  try {
    for (const [path, content] of Object.entries(files)) {
      await mkdir(dirname(join(top, path)), { recursive: true });
      await writeFile(join(top, path), content);
    }

    const imported = await bring(mlflowFolder(top), api);

    expect(imported).toMatchObject({ runs: 1, files: 1, models: 1, versions: 2, failures: [] });
    const speaker = (await Array.fromAsync(mlflowServer(api).models())).find(
      ({ name }) => name === 'speaker',
    );
    const sources = speaker?.versions.map(({ source }) =>
      source.replace(/^mlflow-artifacts:.*\/artifacts\//, ''),
    );
    expect(sources).toEqual(['net', 'net']);
  } finally {
    await bridge.close();
  }
});

test('a run that goes on where it comes from is looked at again until it has ended', async () => {
  const other = await mkdtemp(join(tmpdir(), 'mlruns-'));
  const { bridge, api } = await target();
  const write = async (path: string, content: string) => {
    await mkdir(dirname(join(other, path)), { recursive: true });
    await writeFile(join(other, path), content);
  };
  const run = (status: number) =>
    write('1/aa/meta.yaml', `run_id: aa\nstatus: ${status}\nstart_time: 1\nlifecycle_stage: active\n`);
  try {
    await write('1/meta.yaml', "experiment_id: '1'\nname: live\nlifecycle_stage: active\n");
    await write('1/aa/metrics/loss', '1 0.5 0\n');
    await run(1);
    expect(await bring(mlflowFolder(other), api)).toMatchObject({ known: 0, points: 1 });
    await write('1/aa/metrics/loss', '1 0.5 0\n2 0.25 1\n');
    await write('1/aa/params/late', 'yes');
    await run(3);
    const again = await bring(mlflowFolder(other), api);
    expect(again).toMatchObject({ runs: 1, known: 0, points: 2, params: 1, failures: [] });
    const last = await bring(mlflowFolder(other), api);
    expect(last).toMatchObject({ runs: 1, known: 1, points: 0, failures: [] });
  } finally {
    await bridge.close();
    await rm(other, { recursive: true });
  }
});

test.runIf(everySample)(
  'a lost answer is no failure, and names with quotes are asked for as MLflow reads them',
  async () => {
    const from = await target();
    const to = await target();
    try {
      await from.api.run('POST mlflow/experiments/create', { body: { name: 'made twice' } });
      const names = ["it's", 'the "best"', `it's "best"`];
      for (const name of names) {
        await from.api.run('POST mlflow/registered-models/create', { body: { name } });
        await from.api.run('POST mlflow/model-versions/create', { body: { name, source: 's3://models/x' } });
      }
      to.bridge.lose('/api/2.0/mlflow/experiments/create');
      const source = mlflowServer(from.api);
      const { failures } = await bring(
        {
          ...source,
          async *models() {
            for await (const model of source.models())
              if (names.includes(model.name)) yield { ...model, name: `${model.name} here` };
          },
        },
        to.api,
      );
      expect(failures).toEqual([]);
      expect(from.bridge.filters).toEqual(expect.arrayContaining([`name="it's"`, `name='the "best"'`]));
      const arrived = [];
      for await (const { name, versions } of mlflowServer(to.api).models())
        if (name.endsWith('here')) arrived.push([name, versions.length]);
      expect(arrived).toEqual(names.map((name) => [`${name} here`, 1]).sort());
    } finally {
      await from.bridge.close();
      await to.bridge.close();
    }
  },
);
