import { expect, test } from 'vitest';
import { endpoint as compare } from '../../../functions/experiments/compare/compare-experiments.endpoint.ts';
import { endpoint as readMetrics } from '../../../functions/experiments/metrics/read-metrics.endpoint.ts';
import { endpoint as listExperiments } from '../../../functions/experiments/search/list-experiments.endpoint.ts';
import { endpoint as readProject } from '../../../functions/projects/projects/read-project.endpoint.ts';
import { endpoint as train } from '../../../functions/projects/training/train-project.endpoint.ts';
import { endpoint as putVariables } from '../../../functions/projects/variables/put-variables.endpoint.ts';
import { trainingService } from '../../support/training.ts';
import { json } from '../users/body.ts';

/** Holds 150 MB, keeps a processor busy, logs a metric of the machine itself, and prints its accuracy. */
const script = `
import json, os, time
held = bytearray(150 * 2 ** 20)
for page in range(0, len(held), 4096): held[page] = 1
with open(os.environ['METRICS_FILE'], 'a') as metrics:
    metrics.write(json.dumps({'system/gpu_0_utilization_percentage': 40, 'system/cpu_utilization_percentage': 7, 'step': 0}) + '\\n')
for epoch in range(1, 4): print(f'epoch {epoch}: accuracy {1 - 1 / (1 + epoch)}')
end = time.monotonic() + 3.5
while time.monotonic() < end: pass
`;

test('a training shows what its machine did, apart from its own metrics', async () => {
  const service = await trainingService({}, { JOBS_RUN_AS: 'processes' });
  const { developer: as } = service;
  const project_id = await service.project({
    command: 'python3 train.py',
    files: { 'train.py': script },
  });
  const variables = [{ name: 'MLFLOW_SYSTEM_METRICS_SAMPLING_INTERVAL', value: '1', secret: false }];
  await service.call(putVariables, { ...json({ variables }), path: { project_id }, as });
  const begin = async () => {
    const query = { config: 'train.yaml' };
    const { experiment_id } = (await service.call(train, { path: { project_id }, query, as })).json;
    return service.ended(project_id, experiment_id);
  };
  const [one, other] = await Promise.all([begin(), begin()]);
  const path = { project_id, experiment_id: one.experiment_id };

  // The answer: the program's metrics come from its log, although it reported some of the machine.
  expect(Object.keys(one.metrics)).toEqual(['accuracy']);
  expect(one.metrics_source).toBe('log');
  expect(one.best.metric).toBe('accuracy');
  expect(Object.keys(one.system.metrics)).toEqual(
    expect.arrayContaining([
      'system/cpu_utilization_percentage',
      'system/system_memory_usage_megabytes',
      'system/system_memory_usage_percentage',
      'system/disk_usage_percentage',
      'system/disk_usage_megabytes',
      'system/disk_available_megabytes',
      'system/gpu_0_utilization_percentage',
    ]),
  );
  expect(one.system.use.memory.peak).toBeGreaterThan(150);
  expect(one.system.use.memory.peak).toBeLessThan(300);
  expect(one.system.use.cpu.mean).toBeGreaterThan(0.05);
  expect(one.system.use.seconds).toBeGreaterThan(2);
  expect(one.system.text).toMatch(/^Peak 0\.\d+ of 2 GiB, \d+ % of 1 vCPU\.$/);
  // What the program logs under a name is its own: the machine adds nothing after it. (On a busy machine it may have measured before.)
  expect(one.system.metrics['system/cpu_utilization_percentage']).toMatchObject({ last: 7 });

  // The points: only who asks for them gets them.
  const all = await service.call(readMetrics, { path, as });
  expect(new Set(all.json.map(({ name }: { name: string }) => name))).toEqual(new Set(['accuracy']));
  const curves = await service.call(readMetrics, { path, query: { points: '100' }, as });
  expect(new Set(curves.json.map(({ name }: { name: string }) => name))).toEqual(new Set(['accuracy']));
  const name = 'system/system_memory_usage_megabytes';
  const asked = await service.call(readMetrics, { path, query: { name }, as });
  const steps = asked.json.map(({ step }: { step: number }) => step);
  expect(steps.length).toBeGreaterThan(1);
  expect(steps).toEqual(steps.map((_: number, index: number) => index));

  // Lists, comparison and the project's metrics name none.
  const list = await service.call(listExperiments, { path: { project_id }, as });
  for (const row of list.json) expect([Object.keys(row.metrics), row.system]).toEqual([['accuracy'], null]);
  const experiments = `${one.experiment_id},${other.experiment_id}`;
  const { metrics } = (await service.call(compare, { path: { project_id }, query: { experiments }, as }))
    .json;
  expect([...Object.keys(metrics.differ), ...Object.keys(metrics.equal)]).toEqual(['accuracy']);
  const project = await service.call(readProject, { path: { project_id }, as });
  expect(project.json.metrics.map((metric: { name: string }) => metric.name)).toEqual(['accuracy']);

  // A filter asks for them by name. It compares the last value, which may be of a program that has given back its memory.
  const foundWith = async (filter: string) =>
    (await service.call(listExperiments, { path: { project_id }, query: { filter }, as })).json;
  expect(await foundWith(`metrics."${name}" >= 0`)).toHaveLength(2);
  expect(await foundWith(`metrics."${name}" > 300`)).toEqual([]);
});
