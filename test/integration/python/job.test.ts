import { expect, test } from 'vitest';
import { endpoint as listArtifacts } from '../../../functions/experiments/artifacts/list-artifacts.endpoint.ts';
import { endpoint as readMetrics } from '../../../functions/experiments/metrics/read-metrics.endpoint.ts';
import { endpoint as listExperiments } from '../../../functions/experiments/search/list-experiments.endpoint.ts';
import { endpoint as train } from '../../../functions/projects/training/train-project.endpoint.ts';
import { trainingService } from '../../support/training.ts';

const program = `
import mps, os, signal
r = mps.record("another", params={"depth": 7}, name="of the job", tags={"team": "vision"})
for step in range(10): r.log(accuracy=step / 10, step=step)
r.image("sample", b"\\x89PNG", step=2)
r.table("rows", {"a": [1, 2]}, step=2)
assert mps.connect().connection.mlflow("GET", "mlflow/runs/get", query={"run_id": os.environ["MLFLOW_RUN_ID"]})
os.kill(os.getpid(), signal.SIGKILL)
`;

test('a job records into its own experiment without a package of its own, also if it is killed', async () => {
  const service = await trainingService();
  const { developer: as } = service;
  const command = 'python3 train.py';
  const project_id = await service.project({ command, files: { 'train.py': program } });

  const begun = await service.call(train, { path: { project_id }, query: { config: 'train.yaml' }, as });
  const { experiment_id } = begun.json;
  const experiment = await service.ended(project_id, experiment_id);

  const path = { project_id, experiment_id };
  const log = await service.log(project_id, experiment_id);
  expect(experiment, log).toMatchObject({
    status: 'FAILED',
    name: 'of the job',
    params: { depth: '7' },
    tags: { team: 'vision' },
    metrics: { accuracy: { count: 10, last: 0.9, step: 9 } },
  });
  const artifacts = (await service.call(listArtifacts, { path, as })).json;
  expect(artifacts.map((one: { path: string }) => one.path)).toEqual([
    'images/sample_step_2.png',
    'tables/rows_step_2.csv',
  ]);
  expect((await service.call(readMetrics, { path, as })).json).toHaveLength(10);
  expect((await service.call(listExperiments, { path, as })).json).toHaveLength(1);
});
