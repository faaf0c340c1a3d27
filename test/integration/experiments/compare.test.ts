import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { endpoint as compare } from '../../../functions/experiments/compare/compare-experiments.endpoint.ts';
import { endpoint as logMetrics } from '../../../functions/experiments/metrics/log-metrics.endpoint.ts';
import { endpoint as create } from '../../../functions/experiments/records/create-experiment.endpoint.ts';
import { objectWriter } from '../../../shared/aws/objects.ts';
import { s3 } from '../../../shared/aws/s3-client.ts';
import { putExperiment } from '../../../shared/data/experiments/experiment.ts';
import { putJobConfig } from '../../../shared/data/jobs/job-config.ts';
import { uploadObject } from '../../../shared/data/projects/upload.ts';
import { experimentOf } from '../../support/experiment.ts';
import { type TestService, type TestUser, testService } from '../../support/service.ts';
import { tar, tarEntry } from '../archive/archive-bytes.ts';
import { newProject } from '../projects/new-project.ts';
import { json } from '../users/body.ts';

describe('a comparison of experiments', () => {
  let service: TestService;
  let as: TestUser;
  let project_id: string;

  beforeAll(async () => {
    service = await testService();
    as = await service.user('developer');
    project_id = await newProject(service, as);
  });

  const made = async (body: object, ...metrics: object[]) => {
    const path = { project_id };
    const { experiment_id } = (await service.call(create, { path, as, ...json(body) })).json;
    if (metrics.length > 0)
      await service.call(logMetrics, { path: { project_id, experiment_id }, as, ...json({ metrics }) });
    return experiment_id as string;
  };
  const call = (experiments: string, headers = {}, more = {}) =>
    service.call(compare, { path: { project_id }, query: { experiments, ...more }, headers, as });

  test('says which params and metrics differ and which are equal', async () => {
    const a = await made(
      { name: 'a', params: { lr: 0.1, seed: 1, 'x|y': 'p' }, tags: { by: 'ada', stage: 'x' } },
      { name: 'loss', value: 'NaN' },
      { name: 'same', value: 2 },
    );
    const b = await made(
      { name: '<b>|`', params: { lr: 0.2, seed: 1, only: 'b' }, tags: { by: 'ada' } },
      { name: 'loss', value: 0.5 },
      { name: 'same', value: 2 },
    );
    const answer = await call(`${a},${b}`);
    expect(answer.status, answer.text).toBe(200);
    expect(answer.json).toMatchObject({
      experiments: [{ experiment_id: a, name: 'a' }, { experiment_id: b }],
      params: { differ: { lr: ['0.1', '0.2'], only: [null, 'b'], 'x|y': ['p', null] }, equal: { seed: '1' } },
      tags: { differ: { stage: ['x', null] }, equal: { by: 'ada' } },
      metrics: { differ: { loss: ['NaN', 0.5] }, equal: { same: 2 } },
      attributes: { equal: { kind: 'logged', status: 'RUNNING', config_id: null }, differ: {} },
      files: [
        {
          experiment_id: b,
          config: null,
          dependencies: null,
          lock: null,
          same_source: true,
          changed_files: null,
          omitted: false,
        },
      ],
    });
    const table = await call(`${a},${b}`, { Accept: 'text/markdown' });
    expect(table.headers['content-type']).toBe('text/markdown; charset=utf-8');
    expect(table.text).toBe(
      [
        `| param | a (${a.slice(-8)}) | \\<b\\>\\|\\\` (${b.slice(-8)}) |`,
        '| --- | --- | --- |',
        '| lr | 0.1 | 0.2 |',
        '| only | – | b |',
        '| x\\|y | p | – |',
        '',
        `| metric | a (${a.slice(-8)}) | \\<b\\>\\|\\\` (${b.slice(-8)}) |`,
        '| --- | --- | --- |',
        '| loss | NaN | 0.5 |',
        '',
      ].join('\n'),
    );
  });

  test('shows the diffs of configurations and dependencies', async () => {
    const trained = async (config: string, dependencies: string) => {
      const experiment = experimentOf(project_id, 0.5);
      await service.records.write(
        putExperiment({ ...experiment, environment: { ...experiment.environment, dependencies } }),
        putJobConfig(experiment.experiment_id, Buffer.from(config)),
      );
      return experiment.experiment_id;
    };
    const ids = [
      await trained('lr: 0.1\nepochs: 3\n', 'torch\n'),
      await trained('lr: 0.2\nepochs: 3\n', 'torch\n'),
      await trained('lr: 0.1\nepochs: 3\n', 'torch\nnumpy\n'),
    ];
    const { files } = (await call(ids.join(','))).json;
    expect(files[0].config).toContain('\n-lr: 0.1\n+lr: 0.2\n epochs: 3\n');
    expect(files[0].config).toMatch(/^=*\n?--- a\/train\.yaml/);
    expect(files[0].dependencies).toBeNull();
    expect(files[1]).toMatchObject({ config: null, lock: null });
    expect(files[1].dependencies).toContain('\n torch\n+numpy\n');
    expect((await call(`${ids[0]},${ids[2]}`, { Accept: 'text/markdown' })).text).toBe(
      'No param and no metric differs.\n',
    );
  });

  test('names the files in which the programs differ', async () => {
    const objects = objectWriter(s3(service.environment), service.environment['BUCKET'] ?? '');
    const trained = async (source: Buffer, source_size = source.length) => {
      const source_sha256 = createHash('sha256').update(source).digest('hex');
      await objects.put(uploadObject('source', project_id, source_sha256), source, 'application/gzip');
      const experiment = { ...experimentOf(project_id, 0.5), source_sha256, source_size };
      await service.records.write(putExperiment(experiment));
      return experiment.experiment_id;
    };
    const packed = (files: Record<string, string>) =>
      gzipSync(tar(...Object.entries(files).map(([name, content]) => tarEntry(name, { content }))));
    const before = packed({ 'train.py': 'one', 'model.py': 'net', 'old.py': '' });
    const after = packed({ './train.py': 'two', 'model.py': 'net', 'lib/new.py': '' });
    const ids = [
      await trained(before),
      await trained(after),
      await trained(before),
      await trained(Buffer.from('no archive')),
      await trained(packed({ large: '' }), 33 * 1024 * 1024),
    ];
    const { files } = (await call(ids.join(','))).json;
    const changed_files = { added: ['lib/new.py'], removed: ['old.py'], changed: ['train.py'], more: 0 };
    expect(files).toMatchObject([
      { same_source: false, changed_files },
      { same_source: true, changed_files: null },
      { same_source: false, changed_files: null },
      { same_source: false, changed_files: null },
    ]);
    const without = await call(ids.join(','), {}, { changed_files: 'false' });
    expect(without.json.files[0]).toMatchObject({ same_source: false, changed_files: null });
  });

  test('refuses what it cannot compare', async () => {
    const id = await made({});
    for (const experiments of [
      id,
      `${id},${id}`,
      `${id},x`,
      '',
      Array.from({ length: 51 }, () => id).join(','),
    ])
      expect((await call(experiments)).json.errors).toEqual([
        {
          in: 'query',
          name: 'experiments',
          message: 'must be 2 to 50 different ids of experiments, separated by commas',
        },
      ]);
    expect((await call(`${id},01h00000000000000000000000`)).status).toBe(404);
  });
});
