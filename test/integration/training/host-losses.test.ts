import { expect, test } from 'vitest';
import { event as jobStateChanged } from '../../../functions/events/job-state-changed.event.ts';
import { endpoint as cancel } from '../../../functions/experiments/records/cancel-experiment.endpoint.ts';
import { endpoint as train } from '../../../functions/projects/training/train-project.endpoint.ts';
import { endpoint as trainRemote } from '../../../functions/projects/training/train-project-remote.endpoint.ts';
import type { ContainerStart } from '../../../infra/local/batch/jobs/attempt.ts';
import { type BatchJob, batchControl } from '../../../shared/aws/batch.ts';
import { batch as batchClient } from '../../../shared/aws/batch-client.ts';
import { createLogger } from '../../../shared/core/log.ts';
import { readSettings } from '../../../shared/core/settings.ts';
import { type Experiment, requireExperiment } from '../../../shared/data/experiments/experiment.ts';
import { findLease, takeLease } from '../../../shared/data/jobs/lease.ts';
import { taskHandler } from '../../../shared/http/definition/task.ts';
import { maxLosses } from '../../../shared/jobs/host-loss.ts';
import { batchNameOf } from '../../../shared/jobs/job-record.ts';
import { observeJob } from '../../../shared/jobs/observation.ts';
import { reconcileAll } from '../../../shared/jobs/reconciliation.ts';
import { submitInRequest } from '../../../shared/jobs/submission.ts';
import { loseHost } from '../../support/lost-host.ts';
import { emptyBatch, recordedJobs } from '../../support/recorded-jobs.ts';
import { everySample } from '../../support/samples.ts';
import { type TrainingService, trainingService, usualDefinition } from '../../support/training.ts';

/** Loses the host of every attempt up to this one, before its container begins. */
const losing = (attempts: number) => ({
  startFailure({ jobName, attempt }: ContainerStart) {
    const former = Number(/-(\d+)$/.exec(jobName)?.[1] ?? 0);
    return former + attempt > attempts
      ? undefined
      : { statusReason: 'Host EC2 (instance i-0123) terminated.' };
  },
});

/** A training that got as far as `progress` says before its hosts are lost. */
async function trainingAfter(
  service: TrainingService,
  progress: { attempt: number; kept_seconds: number },
  command = 'echo it runs',
) {
  const project_id = await service.project({ command });
  const away = { ...service.environment, BATCH_ENDPOINT: 'http://127.0.0.1:9' };
  const { json, text } = await service.call(train, {
    path: { project_id },
    query: { config: 'train.yaml', timeout: '600' },
    as: service.developer,
    environment: away,
  });
  const { experiment_id } = json;
  expect(experiment_id, text).toBeDefined();
  const at = new Date().toISOString();
  const lease = {
    holder: 'a',
    number: 1,
    batch_job_id: 'b',
    batch_attempt: 1,
    taken_at: at,
    heartbeat_at: at,
  };
  await service.records.write(takeLease(experiment_id, 0, { ...lease, progress }, undefined));
  // It was not submitted. A minute later its function counts as dead.
  await reconcileAll({
    records: service.records,
    batch: batchControl(batchClient(service.environment)),
    settings: readSettings(service.environment),
    now: () => new Date(Date.now() + 60_000),
  });
  return { project_id, experiment_id };
}

test('a training that got on meanwhile outlives 20 lost hosts, over several submissions', async () => {
  const service = await trainingService(losing(20));
  const { project_id, experiment_id } = await trainingAfter(service, { attempt: 15, kept_seconds: 0 });

  const ended = await service.ended(project_id, experiment_id);

  expect(ended).toMatchObject({ status: 'SUCCEEDED', attempt: 1, exit_code: 0 });
  const record = await requireExperiment(service.records, project_id, experiment_id);
  expect(record.former_attempts).toBe(20);
  expect(await service.log(project_id, experiment_id)).toContain('Attempt 21 of train');
  await expect
    .poll(async () =>
      (await service.ended(project_id, experiment_id)).attempts.map(
        ({ attempt }: { attempt: number }) => attempt,
      ),
    )
    .toEqual(Array.from({ length: 21 }, (_, index) => index + 1));
});

test('one that does not get on ends at the tenth loss in a row, counted over submissions, and says so', async () => {
  const service = await trainingService(losing(99));
  const { project_id, experiment_id } = await trainingAfter(service, { attempt: 7, kept_seconds: 0 });

  const ended = await service.ended(project_id, experiment_id);

  expect(ended).toMatchObject({ status: 'FAILED', attempt: 0 });
  expect(ended.attempts).toHaveLength(17);
  expect(ended.status_reason).toBe(
    'The container could not be started, 10 times in a row, the maximum. Start a new job. Batch says: Host EC2 (instance i-0123) terminated.',
  );
  expect((await service.records.query({ pk: 'UNFINISHED_JOBS' })).items).toEqual([]);
});

test('the time that earlier attempts kept counts against the timeout', async () => {
  const service = await trainingService(losing(10));
  const kept = { attempt: 9, kept_seconds: 600 };
  const { project_id, experiment_id } = await trainingAfter(service, kept, 'sleep 300');

  expect(await service.ended(project_id, experiment_id)).toMatchObject({
    status: 'FAILED',
    status_reason: 'The command was stopped at its timeout of 600 s.',
  });
});

test.runIf(everySample)('the build of an environment follows the same bound', async () => {
  const service = await trainingService(losing(99));
  const project_id = await service.project({ command: 'true', env_type: 'python', dependencies: 'six' });
  const { json } = await service.call(trainRemote, { path: { project_id }, as: service.developer });

  const ended = await service.ended(project_id, json.experiment_id);

  expect(ended).toMatchObject({ status: 'FAILED', attempt: 0 });
  expect(ended.status_reason).toMatch(
    /^The environment could not be built\. The container could not be started, 10 times in a row, /,
  );
});

/** Keeps a checkpoint of its steps and loses its host in each, until it has done so many. */
const script = (steps: number) => `
n=$(cat "$CHECKPOINT_DIR/n" 2>/dev/null || echo 0)
if [ "$n" -ge ${steps} ]; then echo done; exit 0; fi
trap 'echo $((n + 1)) > "$CHECKPOINT_DIR/n"; exit 1' TERM
echo "at $n"
while :; do sleep 0.05; done
`;

test.runIf(everySample)(
  'a real training whose supervisor is told to stop again and again goes on from its checkpoints',
  async () => {
    const losses = everySample ? 20 : 3;
    // The first submission has two attempts, so another one follows at once.
    const definition = { ...usualDefinition, name: 'train', type: 'container' as const, attempts: 2 };
    const service = await trainingService({ jobDefinitions: [definition] });
    const files = { 'train.sh': script(losses) };
    const project_id = await service.project({ command: 'sh train.sh', files });
    const query = { config: 'train.yaml' };
    const { json } = await service.call(train, { path: { project_id }, query, as: service.developer });
    const { experiment_id } = json;

    for (let loss = 0; loss < losses; loss += 1) {
      await expect.poll(() => service.log(project_id, experiment_id)).toContain(`at ${loss}\n`);
      await loseHost(service, project_id, experiment_id);
    }

    const ended = await service.ended(project_id, experiment_id);
    const log = await service.log(project_id, experiment_id);
    expect(ended, log).toMatchObject({ status: 'SUCCEEDED', attempt: losses + 1 });
    const lease = await findLease(service.records, experiment_id, 0);
    expect(lease?.progress).toEqual({ attempt: losses, kept_seconds: expect.any(Number) });
    expect(lease?.progress?.kept_seconds).toBeGreaterThan(0);
  },
);

/** A recorded job, and its first submission after the loss of all its hosts. */
async function lostJob() {
  const { service, settings, project_id, experiments } = await recordedJobs(1);
  const { records } = service;
  const [{ experiment_id } = { experiment_id: '' }] = experiments;
  const read = () => requireExperiment(records, project_id, experiment_id);
  const record = await read();
  const stoppedAt = Date.now() - 60_000;
  const attempt = {
    exitCode: undefined,
    reason: 'Host EC2 terminated.',
    startedAt: stoppedAt - 1000,
    stoppedAt,
  };
  const lost: BatchJob = {
    id: record.batch_job_id ?? '',
    name: batchNameOf(record),
    status: 'FAILED',
    reason: 'Host EC2 terminated.',
    attempt: maxLosses,
    maxAttempts: maxLosses,
    exitCode: undefined,
    attempts: Array.from({ length: maxLosses }, () => attempt),
  };
  const at = new Date().toISOString();
  const progress = { attempt: 4, kept_seconds: 0 };
  const lease = {
    holder: 'a',
    number: 1,
    batch_job_id: lost.id,
    batch_attempt: 4,
    taken_at: at,
    heartbeat_at: at,
  };
  await records.write(takeLease(experiment_id, 0, { ...lease, progress }, undefined));
  return { service, settings, records, read, record, lost };
}

test('a loss that is reported twice, and news that come late, change nothing after the first', async () => {
  const { records, read, record, lost } = await lostJob();

  const again = await observeJob(records, record, lost, new Date());
  const after = await read();
  const twice = [
    await observeJob(records, record, lost, new Date()),
    await observeJob(records, after, lost, new Date()),
    await observeJob(records, after, { ...lost, status: 'RUNNING', attempts: [], attempt: 3 }, new Date()),
  ];

  expect(again).toMatchObject({ status: 'CREATED', former_attempts: maxLosses, batch_job_id: null });
  expect(await read()).toEqual(after);
  expect(after.attempts).toHaveLength(maxLosses);
  // Those that have read the present record submit it if nobody has.
  expect(twice.map((one) => one?.former_attempts)).toEqual([undefined, maxLosses, maxLosses]);
});

test('a later submission that Batch gives up for another reason has not lost its host', async () => {
  const { records, read, record, lost } = await lostJob();
  await observeJob(records, record, lost, new Date());
  const given = {
    ...lost,
    id: 'c',
    name: `${lost.name}-${maxLosses}`,
    reason: 'MISCONFIGURATION:JOB_RESOURCE_REQUIREMENT',
    maxAttempts: 4,
    attempt: 1,
    attempts: [],
  };

  await observeJob(records, await read(), given, new Date());

  expect(await read()).toMatchObject({
    status: 'FAILED',
    status_reason:
      'The job ended before it could report. Batch says: MISCONFIGURATION:JOB_RESOURCE_REQUIREMENT',
  });
});

test('the next submission is made once, whoever dies between its record and Batch', async () => {
  const { settings, records, read, record, lost } = await lostJob();
  const submitted: { name: string; attempts: number | undefined; id: string }[] = [];
  const batch = {
    ...emptyBatch,
    async findByName(_: string, name: string) {
      return submitted.find((one) => one.name === name)?.id;
    },
    async submit({ name, retry }: { name: string; retry?: { attempts: number } | undefined }) {
      submitted.push({ name, attempts: retry?.attempts, id: `b${submitted.length}` });
      throw new Error('the answer of Batch is lost');
    },
  };
  const pass = (seconds: number) =>
    reconcileAll({ records, batch, settings, now: () => new Date(Date.now() + 1000 * seconds) });

  await observeJob(records, record, lost, new Date());
  await pass(0);
  // Batch does not list it yet: the claim alone keeps this pass from a second one.
  await pass(44);
  await pass(46);

  expect(submitted).toEqual([{ name: `${lost.name}-10`, attempts: 4, id: 'b0' }]);
  expect(await read()).toMatchObject({ status: 'SUBMITTED', batch_job_id: 'b0', batch_attempt: 10 });
});

test('a loss whose event comes twice is submitted once, also before Batch lists the submission', async () => {
  const { settings, records, read, record, lost } = await lostJob();
  const log = createLogger('error', () => undefined);
  const submitted: string[] = [];
  const deliver = async (seen: Experiment) => {
    const again = await observeJob(records, seen, lost, new Date());
    const context = { records, batch, keys: records as never, settings, now: () => new Date(), log };
    if (again !== undefined) await submitInRequest(again, context, false);
  };
  const batch = {
    ...emptyBatch,
    async submit({ name }: { name: string }) {
      submitted.push(name);
      // The second event comes while the first one waits for the answer of Batch.
      await deliver(await read());
      return 'c';
    },
  };

  await deliver(record);
  await deliver(await read());

  expect(submitted).toEqual([`${lost.name}-10`]);
  expect(await read()).toMatchObject({ status: 'SUBMITTED', batch_job_id: 'c' });
});

test('a job that is cancelled between two submissions ends, and is not submitted', async () => {
  const service = await trainingService(losing(9999));
  const { project_id, experiment_id } = await trainingAfter(service, { attempt: 9999, kept_seconds: 0 });
  await service.until(project_id, experiment_id, ({ attempts }) => attempts.length >= maxLosses);
  const path = { project_id, experiment_id };

  const cancelled = await service.call(cancel, { path, as: service.developer });

  expect(cancelled.status, cancelled.text).toBe(200);
  expect(await service.ended(project_id, experiment_id)).toMatchObject({ status: 'CANCELLED' });
  const handler = taskHandler(jobStateChanged, service.environment);
  const detail = { jobId: 'b', jobName: `train-${experiment_id}-10`, status: 'RUNNABLE' };
  await handler({ detail });
  expect(await service.ended(project_id, experiment_id)).toMatchObject({ status: 'CANCELLED' });
});
