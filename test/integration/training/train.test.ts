import { describe, expect, test } from 'vitest';
import { endpoint as downloadArtifact } from '../../../functions/experiments/download-artifact.endpoint.ts';
import { endpoint as listArtifacts } from '../../../functions/experiments/list-artifacts.endpoint.ts';
import { endpoint as readProject } from '../../../functions/projects/read-project.endpoint.ts';
import { endpoint as train } from '../../../functions/projects/train-project.endpoint.ts';
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
    expect(ended.best).toEqual({ criterion: 'accuracy', value: 0.7, step: 2 });
    expect(log).toContain('config epochs: 3');
    expect(log).toContain('secrets []');
    expect(log).toContain('done');
    const path = { project_id, experiment_id };
    const artifacts = await service.call(listArtifacts, { path, as });
    expect(artifacts.json).toMatchObject([{ path: 'deep/model.txt', size: 9 }]);
    const redirect = await service.call(downloadArtifact, { path: { ...path, path: 'deep/model.txt' }, as });
    expect(redirect.status).toBe(302);
    expect(await (await fetch(redirect.headers['location'] ?? '')).text()).toBe('the model');
    const { json: project } = await service.call(readProject, { path: { project_id }, as });
    expect(project.best_experiment.experiment_id).toBe(experiment_id);
    expect(project.experiments).toBe(1);
  });
});
