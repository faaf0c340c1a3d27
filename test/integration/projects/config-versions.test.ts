import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { endpoint as deleteConfig } from '../../../functions/projects/configs/delete-config.endpoint.ts';
import { endpoint as putConfig } from '../../../functions/projects/configs/put-config.endpoint.ts';
import { endpoint as readConfig } from '../../../functions/projects/configs/read-config.endpoint.ts';
import { endpoint as readConfigGraph } from '../../../functions/projects/configs/read-config-graph.endpoint.ts';
import { endpoint as readExperimentConfig } from '../../../functions/projects/configs/read-experiment-config.endpoint.ts';
import { endpoint as readExperimentConfigGraph } from '../../../functions/projects/configs/read-experiment-config-graph.endpoint.ts';
import { putExperiment } from '../../../shared/data/experiments/experiment.ts';
import { putJobConfig } from '../../../shared/data/jobs/job-config.ts';
import { configPartitions, maxConfigs, versionsKept } from '../../../shared/data/projects/config.ts';
import { countersKey } from '../../../shared/data/projects/project.ts';
import { experimentOf } from '../../support/experiment.ts';
import { type TestService, type TestUser, testService } from '../../support/service.ts';
import { newProject } from './new-project.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

let service: TestService;
let owner: TestUser;
let project_id: string;

beforeEach(async () => {
  service = await testService();
  owner = await service.user('developer');
  project_id = await newProject(service, owner);
});

const at = (config_id: string) => ({ path: { project_id, config_id }, as: owner });
const put = async (text: string, config_id = 'train.yaml') => {
  const { status, json } = await service.call(putConfig, { ...at(config_id), body: text });
  expect(status).toBe(200);
  return json;
};
const read = (version?: number | string) =>
  service.call(readConfig, {
    ...at('train.yaml'),
    query: version === undefined ? {} : { version: String(version) },
  });
const contents = async () => {
  const { items } = await service.records.query({ pk: configPartitions(project_id)[1]! });
  return items.map(({ sk }) => Number(sk.split('#')[2]));
};

describe('an earlier version of a configuration', () => {
  test('is answered as it was, with its graph', async () => {
    const first = await put('stages:\n  one: {cmd: a}\n');
    const second = await put('stages:\n  one: {cmd: a}\n  two: {cmd: b, deps: [one]}\n');
    const { status, json } = await read(1);
    expect([status, json]).toEqual([
      200,
      {
        ...first,
        content: 'stages:\n  one: {cmd: a}\n',
        data: { stages: { one: { cmd: 'a' } } },
      },
    ]);
    expect((await read(2)).json).toEqual((await read()).json);
    expect((await read()).json).toMatchObject(second);
    expect((await read(1)).headers['etag']).toMatch(/^"1-/);
    const nodes = async (query: Record<string, string>) =>
      (await service.call(readConfigGraph, { ...at('train.yaml'), query })).json.nodes.length;
    expect([await nodes({ version: '1' }), await nodes({})]).toEqual([1, 2]);
    const drawn = await service.call(readConfigGraph, {
      ...at('train.yaml'),
      query: 'version=1',
      headers: { Accept: 'text/vnd.mermaid' },
    });
    expect(drawn.text).not.toContain('two');
  });

  test('is refused where it is no number, not there yet, or no longer kept', async () => {
    await put('a: 1');
    for (const version of ['0', '-1', 'one', '1.5', '99999999999']) {
      const { status, json } = await read(version);
      expect([status, json.errors?.[0]?.name]).toEqual([400, 'version']);
    }
    const missing = await read(2);
    expect([missing.status, missing.json.detail]).toEqual([
      404,
      'There is no version 2 of train.yaml; versions 1 to 1 are kept.',
    ]);
  });

  test('is kept until a hundred newer ones are there, each stored once', async () => {
    for (let version = 1; version <= versionsKept + 2; version += 1) await put(`a: ${version}`);
    expect(await contents()).toEqual(Array.from({ length: versionsKept }, (_, index) => index + 3));
    expect((await read(3)).json).toMatchObject({ version: 3, content: 'a: 3' });
    expect((await read(2)).json.detail).toContain(`versions 3 to ${versionsKept + 2} are kept`);
  });

  test('is gone with the configuration, and no number of it comes again', async () => {
    await put('a: 1');
    await put('a: 2');
    const deleted = await service.call(deleteConfig, at('train.yaml'));
    expect(deleted.json.deleted).toEqual({ versions: 2 });
    expect([await contents(), (await read(1)).status]).toEqual([[], 404]);
    await put('a: 3');
    expect((await read()).json.version).toBe(3);
    expect((await read(2)).json.detail).toContain('versions 3 to 3 are kept');
  });

  test('that an earlier release stored has no time of its own', async () => {
    await put('a: 1');
    await put('a: 2');
    const pk = configPartitions(project_id)[1]!;
    for (const { sk } of (await service.records.query({ pk })).items)
      await service.records.write({ update: { pk, sk }, change: { remove: ['updated_at'] } });
    expect((await read(1)).json).toMatchObject({ updated_at: null, content: 'a: 1', sha256: sha256('a: 1') });
    expect((await read(2)).json.updated_at).toEqual(expect.any(String));
  });
});

test('a project has at most a thousand configurations', async () => {
  await put('a: 1');
  await service.records.write({
    update: countersKey(project_id),
    change: { set: { configs: maxConfigs } },
  });
  const refused = await service.call(putConfig, { ...at('other.yaml'), body: 'a: 1' });
  expect([refused.status, refused.json.detail]).toEqual([
    409,
    'The project has the maximum of 1000 configurations. Delete one first.',
  ]);
  expect(await put('a: 2')).toMatchObject({ version: 2 });
});

test('the configuration of an experiment stays its own', async () => {
  const experiment = { ...experimentOf(project_id, 0.5), config_sha256: sha256('a: {b: 1}\n') };
  const { experiment_id, config_id, config_version } = experiment;
  const path = { project_id, experiment_id };
  await service.records.write(putExperiment(experiment));
  const none = await service.call(readExperimentConfig, { path, as: owner });
  expect([none.status, none.json.detail]).toEqual([404, `Experiment ${experiment_id} has no configuration.`]);
  await service.records.write(putJobConfig(experiment_id, Buffer.from('a: {b: 1}\n')));
  await put('a: 2', config_id);
  const { status, json, headers } = await service.call(readExperimentConfig, { path, as: owner });
  expect([status, json]).toEqual([
    200,
    {
      experiment_id,
      config_id,
      config_version,
      format: 'yaml',
      size: 10,
      sha256: sha256('a: {b: 1}\n'),
      content: 'a: {b: 1}\n',
      data: { a: { b: 1 } },
    },
  ]);
  const again = { path, as: owner, headers: { 'If-None-Match': headers['etag'] ?? '' } };
  expect((await service.call(readExperimentConfig, again)).status).toBe(304);
  for (const Accept of ['application/json', 'image/svg+xml', 'text/vnd.mermaid', 'text/vnd.graphviz']) {
    const graph = await service.call(readExperimentConfigGraph, { path, as: owner, headers: { Accept } });
    expect([graph.status, graph.headers['content-type']?.split(';')[0]]).toEqual([200, Accept]);
  }
  await service.call(deleteConfig, at(config_id));
  expect((await service.call(readExperimentConfig, { path, as: owner })).json.content).toBe('a: {b: 1}\n');
  const missing = { ...path, experiment_id: '01h00000000000000000000000' };
  expect((await service.call(readExperimentConfig, { path: missing, as: owner })).status).toBe(404);
});
