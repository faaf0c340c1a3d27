import { describe, expect, test } from 'vitest';
import { endpoint as downloadArtifact } from '../../../functions/experiments/artifacts/download-artifact.endpoint.ts';
import { endpoint as listArtifacts } from '../../../functions/experiments/artifacts/list-artifacts.endpoint.ts';
import { endpoint as listExperiments } from '../../../functions/experiments/search/list-experiments.endpoint.ts';
import { endpoint as putConfig } from '../../../functions/projects/configs/put-config.endpoint.ts';
import { endpoint as readExperimentConfig } from '../../../functions/projects/configs/read-experiment-config.endpoint.ts';
import { endpoint as readEnvironment } from '../../../functions/projects/environment/read-environment.endpoint.ts';
import { endpoint as readProject } from '../../../functions/projects/projects/read-project.endpoint.ts';
import { endpoint as train } from '../../../functions/projects/training/train-project.endpoint.ts';
import { endpoint as readSource } from '../../../functions/projects/uploads/read-source.endpoint.ts';
import { findEnvironment, putEnvironment } from '../../../shared/data/projects/environment.ts';
import { trainingService } from '../../support/training.ts';

const script = `
import json, os, sys
print('config', open(sys.argv[1]).read().strip())
print('secrets', [name for name in os.environ if any(word in name for word in ('SECRET', 'ACCESS', 'TABLE', 'ENDPOINT', 'BUCKET'))])
for step in range(3):
    with open(os.environ['METRICS_FILE'], 'a') as metrics:
        metrics.write(json.dumps({'name': 'accuracy', 'value': 0.5 + step / 10, 'step': step}) + '\\n')
os.makedirs(os.path.join(os.environ['OUTPUT_DIR'], 'deep'))
open(os.path.join(os.environ['OUTPUT_DIR'], 'deep', 'model.txt'), 'w').write('the model')
print('done', file=sys.stderr)
`;

const same = `
import os, sys
names = ['CONFIG_PATH', 'OUTPUT_DIR', 'DATA_DIR', 'CHECKPOINT_DIR', 'METRICS_FILE']
assert sys.argv[1:6] == [os.environ[name] for name in names], sys.argv
print('node', sys.argv[6], 'of', sys.argv[7], 'at', *sys.argv[8:])
print('cluster', [name for name in os.environ if name in ('RANK', 'NODE_RANK', 'WORLD_SIZE', 'MASTER_ADDR')])
`;

describe('training on one machine', () => {
  test('runs the command, keeps its log, metrics and artifacts, and ranks it', async () => {
    const service = await trainingService();
    const { developer: as } = service;
    const project_id = await service.project({
      command: 'python3 train.py {config}',
      files: { 'train.py': script },
    });
    const begun = await service.call(train, { path: { project_id }, query: { config: 'train.yaml' }, as });
    expect(begun.status, begun.text).toBe(200);
    const { experiment_id } = begun.json;
    const ended = await service.ended(project_id, experiment_id);
    const log = await service.log(project_id, experiment_id);
    expect(ended, log).toMatchObject({
      status: 'SUCCEEDED',
      exit_code: 0,
      attempt: 1,
      artifacts: 1,
      environment_cache: 'none',
    });
    expect(ended.best).toEqual({ criterion: 'accuracy', metric: 'accuracy', value: 0.7, step: 2 });
    expect(ended).toMatchObject({
      name: 'train-1',
      params: { epochs: '3' },
      tags: {},
      note: null,
      git: null,
    });
    expect(log).toContain('config epochs: 3');
    expect(log).toContain('secrets []');
    expect(log).toContain('done');
    const path = { project_id, experiment_id };
    const artifacts = await service.call(listArtifacts, { path, as });
    expect(artifacts.json).toMatchObject([{ path: 'deep/model.txt', size: 9 }]);
    const redirect = await service.call(downloadArtifact, { path: { ...path, path: 'deep/model.txt' }, as });
    expect(redirect.status).toBe(302);
    expect(await (await fetch(redirect.headers['location'] ?? '')).text()).toBe('the model');
    // A presigned URL is good for one method, so HEAD has its own.
    const call = { path: { ...path, path: 'deep/model.txt' }, as };
    const head = await service.call(downloadArtifact, { ...call, method: 'HEAD' });
    const found = await fetch(head.headers['location'] ?? '', { method: 'HEAD' });
    expect([head.status, found.status, found.headers.get('content-length')]).toEqual([302, 200, '9']);
    const { json: project } = await service.call(readProject, { path: { project_id }, as });
    expect(project.best_experiment.experiment_id).toBe(experiment_id);
    expect(project.experiments).toBe(1);
  });

  test('each placeholder is what its variable is; on one node this is node 0 of 1', async () => {
    const service = await trainingService();
    const { developer: as } = service;
    const names = '{config} {output_dir} {data_dir} {checkpoint_dir} {metrics_file}';
    const project_id = await service.project({
      command: `python3 same.py ${names} {node_rank} {num_nodes} {master_addr} {master_port}`,
      files: { 'same.py': same },
    });
    const begun = await service.call(train, { path: { project_id }, query: { config: 'train.yaml' }, as });
    const ended = await service.ended(project_id, begun.json.experiment_id);
    const log = await service.log(project_id, begun.json.experiment_id);
    expect(ended, log).toMatchObject({ status: 'SUCCEEDED' });
    expect(log).toMatch(/node 0 of 1 at 127\.0\.0\.1 (?:29|30)\d{3}/);
    expect(log).toContain('cluster []');
  });

  test('trains with the inputs that are meant, or not at all', async () => {
    const service = await trainingService();
    const { developer: as } = service;
    const project_id = await service.project({ command: 'true' });
    const path = { project_id };
    const config = { ...path, config_id: 'train.yaml' };
    const put = (body: string) => service.call(putConfig, { path: config, body, as });
    const versions = [(await put('lr: 0.1\n')).json.version, (await put('lr: 0.2\n')).json.version];
    const { json: environment } = await service.call(readEnvironment, { path, as });
    const { json: source } = await service.call(readSource, { path, as });
    const begin = (meant: Readonly<Record<string, unknown>>) =>
      service.call(train, { path, query: { config: 'train.yaml', ...meant }, as });

    const meant = { environment_version: environment.version, source_sha256: source.sha256 };
    for (const [at, config_version] of versions.entries()) {
      const { json } = await begin({ config_version, ...meant });
      expect(json).toMatchObject({ config_version, params: { lr: `0.${at + 1}` } });
      const read = { path: { project_id, experiment_id: json.experiment_id }, as };
      expect((await service.call(readExperimentConfig, read)).json).toMatchObject({
        config_version,
        content: `lr: 0.${at + 1}\n`,
      });
    }
    for (const changed of [
      { environment_version: environment.version + 1 },
      { source_sha256: 'f'.repeat(64) },
      { ...meant, environment_version: environment.version + 1 },
    ])
      expect((await begin(changed)).json).toMatchObject({
        status: 409,
        errors: [{ in: 'query', name: expect.stringMatching(/^(environment_version|source_sha256)$/) }],
      });
    expect((await begin({ config_version: 99 })).json).toMatchObject({
      status: 404,
      detail: expect.stringContaining('no version 99'),
    });
    const { json: listed } = await service.call(listExperiments, { path, as });
    expect(listed).toHaveLength(versions.length);
  });

  test('a command of an earlier release runs as it did there', async () => {
    const service = await trainingService();
    const { developer: as } = service;
    const project_id = await service.project({ command: 'true' });
    const stored = (await findEnvironment(service.records, project_id))!;
    const entry_point_command = 'printf "%s." $LR {config}';
    await putEnvironment(service.records, { ...stored, entry_point_command, version: 2 }, stored);
    const begun = await service.call(train, { path: { project_id }, query: { config: 'train.yaml' }, as });
    await service.ended(project_id, begun.json.experiment_id);
    const log = await service.log(project_id, begun.json.experiment_id);
    expect(log).toMatch(/\$LR\.\/.*train\.yaml\./);
  });
});
