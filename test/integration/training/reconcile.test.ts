import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { event as jobStateChanged } from '../../../functions/events/job-state-changed.event.ts';
import { event as reconcile } from '../../../functions/events/reconcile.event.ts';
import { endpoint as train } from '../../../functions/projects/training/train-project.endpoint.ts';
import { batchControl } from '../../../shared/aws/batch.ts';
import { batch } from '../../../shared/aws/batch-client.ts';
import { readSettings } from '../../../shared/core/settings.ts';
import { experimentKey } from '../../../shared/data/experiments/experiment.ts';
import { taskHandler } from '../../../shared/http/definition/task.ts';
import { reconcileAll } from '../../../shared/jobs/reconciliation.ts';
import { everySample } from '../../support/samples.ts';
import { type TrainingService, trainingService } from '../../support/training.ts';
import { unfinishedOf } from '../../support/unfinished.ts';

/** Reconciles as if so many seconds had passed. */
const reconcileAfter = (service: TrainingService, seconds: number) =>
  reconcileAll({
    records: service.records,
    batch: batchControl(batch(service.environment)),
    settings: readSettings(service.environment),
    now: () => new Date(Date.now() + seconds * 1000),
  });

async function begin(service: TrainingService, environment = service.environment, seconds = 1) {
  const project_id = await service.project({ command: `sh -c 'echo ran; sleep ${seconds}'` });
  const begun = await service.call(train, {
    path: { project_id },
    query: { config: 'train.yaml' },
    as: service.developer,
    environment,
  });
  expect(begun.status, begun.text).toBe(200);
  return { project_id, experiment_id: begun.json.experiment_id as string, experiment: begun.json };
}

describe('reconciling', () => {
  test('submits what was recorded while Batch was away, once', async () => {
    const service = await trainingService();
    const away = { ...service.environment, BATCH_ENDPOINT: 'http://127.0.0.1:9' };
    const { project_id, experiment_id, experiment } = await begin(service, away);
    expect(experiment.status).toBe('CREATED');
    await reconcileAfter(service, 1);
    expect(
      (await service.records.get(experimentKey(project_id, experiment_id)))?.['batch_job_id'],
    ).toBeNull();
    await Promise.all([reconcileAfter(service, 60), reconcileAfter(service, 60)]);
    expect(await service.ended(project_id, experiment_id)).toMatchObject({ status: 'SUCCEEDED', attempt: 1 });
    const log = await service.log(project_id, experiment_id);
    expect(log.match(/ran/g)).toHaveLength(1);
  });

  test.runIf(everySample)(
    'submits at once what a killed service of the same machine had recorded',
    async () => {
      const service = await trainingService();
      const away = { ...service.environment, BATCH_ENDPOINT: 'http://127.0.0.1:9' };
      const pass = taskHandler(reconcile, service.environment);
      const own = { alone_since: new Date().toISOString() };
      const { project_id, experiment_id } = await begin(service, away);

      await pass(own);
      const fresh = await service.records.get(experimentKey(project_id, experiment_id));
      await pass({ alone_since: new Date().toISOString() });

      expect(fresh?.['batch_job_id']).toBeNull();
      expect(await service.ended(project_id, experiment_id)).toMatchObject({
        status: 'SUCCEEDED',
        attempt: 1,
      });
    },
  );

  test('ends a job that Batch no longer knows', async () => {
    const service = await trainingService({ deliver: async () => undefined });
    const { project_id, experiment_id } = await begin(service, {
      ...service.environment,
      BATCH_ENDPOINT: 'http://127.0.0.1:9',
    });
    const key = experimentKey(project_id, experiment_id);
    await service.records.write({
      update: key,
      change: { set: { batch_job_id: randomUUID(), status: 'RUNNING', status_rank: 5 } },
    });
    await reconcileAfter(service, 0);
    const experiment = await service.ended(project_id, experiment_id);
    expect(experiment).toMatchObject({
      status: 'FAILED',
      status_reason: expect.stringContaining('no longer knows'),
    });
    expect(await unfinishedOf(service.records)).toEqual([]);
  });

  test('finds an end that no event told of', async () => {
    const service = await trainingService({ deliver: async () => undefined });
    const { project_id, experiment_id } = await begin(service, service.environment, 600);
    await service.until(project_id, experiment_id, ({ status }) => status === 'RUNNING');
    const record = await service.records.get(experimentKey(project_id, experiment_id));
    await batchControl(batch(service.environment)).terminate(
      String(record?.['batch_job_id']),
      'by somebody else',
    );
    await expect
      .poll(async () => {
        await reconcileAfter(service, 0);
        return (await service.records.get(experimentKey(project_id, experiment_id)))?.['status'];
      })
      .toBe('FAILED');
  });

  test('a job that is cancelled, and ended by Batch, while it is compared ends cancelled', async () => {
    const service = await trainingService({ deliver: async () => undefined });
    const { project_id, experiment_id } = await begin(service, service.environment, 600);
    const key = experimentKey(project_id, experiment_id);
    const control = batchControl(batch(service.environment));
    await reconcileAll({
      records: service.records,
      batch: {
        ...control,
        async describe(ids) {
          const cancel_requested_at = new Date().toISOString();
          await service.records.write({ update: key, change: { set: { cancel_requested_at } } });
          const jobs = await control.describe(ids);
          return jobs.map((job) => ({ ...job, status: 'FAILED' as const, exitCode: 143 }));
        },
      },
      settings: readSettings(service.environment),
      now: () => new Date(),
    });
    expect(await service.records.get(key)).toMatchObject({ status: 'CANCELLED', exit_code: 143 });
  });

  test('news that come twice, late and in any order never move a job back', async () => {
    const service = await trainingService({ deliver: async () => undefined });
    const { project_id, experiment_id } = await begin(service);
    const ended = await service.ended(project_id, experiment_id);
    const handler = taskHandler(jobStateChanged, service.environment);
    const record = await service.records.get(experimentKey(project_id, experiment_id));
    for (const status of ['RUNNABLE', 'STARTING', 'RUNNING', 'FAILED', 'SUCCEEDED', 'RUNNABLE'] as const) {
      await handler({
        detail: { jobId: record?.['batch_job_id'], jobName: `train-${experiment_id}`, status },
      });
    }
    expect((await service.records.get(experimentKey(project_id, experiment_id)))?.['status']).toBe(
      ended.status,
    );
    await expect(handler({ detail: { jobId: 7 } })).rejects.toThrow();
  });
});
