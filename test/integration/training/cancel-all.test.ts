import { expect, test } from 'vitest';
import { event as reconcile } from '../../../functions/events/reconcile.event.ts';
import { endpoint as cancelAll } from '../../../functions/experiments/records/cancel-experiments.endpoint.ts';
import { endpoint as createExperiment } from '../../../functions/experiments/records/create-experiment.endpoint.ts';
import { endpoint as readExperiment } from '../../../functions/experiments/records/read-experiment.endpoint.ts';
import { endpoint as listExperiments } from '../../../functions/experiments/search/list-experiments.endpoint.ts';
import { endpoint as train } from '../../../functions/projects/training/train-project.endpoint.ts';
import { lineKey } from '../../../shared/data/jobs/waiting-line.ts';
import { countersKey } from '../../../shared/data/projects/project.ts';
import { taskHandler } from '../../../shared/http/definition/task.ts';
import { type TrainingService, trainingService } from '../../support/training.ts';
import { heldVcpus, unfinishedOf } from '../../support/unfinished.ts';

/** Jobs are accepted by Batch and wait there. */
const full = { queues: ['train', 'cluster'].map((name) => ({ name, maxJobs: 0 })) };

const begin = async ({ call, developer: as }: TrainingService, project_id: string) =>
  (await call(train, { path: { project_id }, query: { config: 'train.yaml' }, as })).json
    .experiment_id as string;

const statusesIn = async ({ call, developer: as }: TrainingService, project_id: string) =>
  (await call(listExperiments, { path: { project_id }, query: { limit: '200' }, as })).json.map(
    ({ status }: { status: string }) => status,
  );

test('one request cancels what waits in line and what has a place, in few transactions', async () => {
  const service = await trainingService(full, { LIMIT_UNFINISHED_JOBS: '2' });
  const { developer: as } = service;
  const [project_id, other] = [
    await service.project({ command: 'true' }),
    await service.project({ command: 'true' }),
  ];
  await begin(service, project_id);
  await begin(service, project_id);
  await service.call(createExperiment, {
    path: { project_id },
    body: '{}',
    headers: { 'Content-Type': 'application/json' },
    as,
  });
  const kept = [];
  for (let count = 0; count < 70; count += 1) {
    await begin(service, project_id);
    if (count % 35 === 0) kept.push(await begin(service, other));
  }
  const answer = await service.call(cancelAll, { path: { project_id }, as });
  expect(answer).toMatchObject({ status: 200, json: { cancelled: 72, complete: true } });
  const statuses = await statusesIn(service, project_id);
  expect(statuses.filter((status: string) => status === 'CANCELLED')).toHaveLength(72);
  expect(statuses.filter((status: string) => status === 'RUNNING')).toHaveLength(1);
  expect(await service.records.get(countersKey(project_id))).toMatchObject({ unfinished: 0 });
  // Those of another project have the places now.
  const left = await unfinishedOf(service.records);
  expect(left.map(({ job_id }) => job_id).toSorted()).toEqual(kept.toSorted());
  expect(await service.records.get(lineKey(as.user.user_id))).toBeUndefined();
  for (const experiment_id of kept)
    expect(
      (await service.call(readExperiment, { path: { project_id: other, experiment_id }, as })).json.status,
    ).not.toBe('CANCELLED');
  expect((await service.call(cancelAll, { path: { project_id }, as })).json).toEqual({
    cancelled: 0,
    complete: true,
  });
  expect((await service.call(cancelAll, { path: { project_id: other }, as })).json).toEqual({
    cancelled: 2,
    complete: true,
  });
  expect(await heldVcpus(service.records)).toBe(0);
});

test('where Batch is away, what is to be cancelled is recorded, and cancelled later', async () => {
  const service = await trainingService(full, { LIMIT_UNFINISHED_JOBS: '2', LOG_LEVEL: 'error' });
  const { developer: as } = service;
  const project_id = await service.project({ command: 'true' });
  for (let count = 0; count < 4; count += 1) await begin(service, project_id);
  const environment = { ...service.environment, BATCH_ENDPOINT: 'http://127.0.0.1:9' };
  const answer = await service.call(cancelAll, { path: { project_id }, as, environment });
  expect(answer.json).toEqual({ cancelled: 4, complete: true });
  // A container has a minute to save before Batch is asked again.
  const cancel_requested_at = new Date(Date.now() - 61_000).toISOString();
  for (const { subject } of await unfinishedOf(service.records))
    await service.records.write({ update: subject, change: { set: { cancel_requested_at } } });
  await taskHandler(reconcile, service.environment)(undefined);
  const statuses = async () => [...new Set(await statusesIn(service, project_id))];
  await expect.poll(statuses).toEqual(['CANCELLED']);
});

test('jobs that get their turn meanwhile are cancelled, too, by requests at the same moment', async () => {
  const service = await trainingService(full, { LIMIT_UNFINISHED_JOBS: '1' });
  const { developer: as } = service;
  const project_id = await service.project({ command: 'true' });
  for (let count = 0; count < 12; count += 1) await begin(service, project_id);
  const answers = await Promise.all(
    [1, 2, 3].map(() => service.call(cancelAll, { path: { project_id }, as })),
  );
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  await service.call(cancelAll, { path: { project_id }, as });
  expect(new Set(await statusesIn(service, project_id))).toEqual(new Set(['CANCELLED']));
  expect(await service.records.get(countersKey(project_id))).toMatchObject({ unfinished: 0 });
  expect(await service.records.get(lineKey(as.user.user_id))).toBeUndefined();
  expect(await heldVcpus(service.records)).toBe(0);
});
