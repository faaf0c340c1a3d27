import { expect, test } from 'vitest';
import type { BatchJob, Submission } from '../../../shared/aws/batch.ts';
import {
  type Experiment,
  experimentKey,
  requireExperiment,
} from '../../../shared/data/experiments/experiment.ts';
import { changeJob } from '../../../shared/data/jobs/job.ts';
import { cancelJob } from '../../../shared/jobs/cancellation.ts';
import { batchNameOf } from '../../../shared/jobs/job-record.ts';
import { observeJob } from '../../../shared/jobs/observation.ts';
import { reasons } from '../../../shared/jobs/reasons.ts';
import { reconcileAll } from '../../../shared/jobs/reconciliation.ts';
import { emptyBatch, recordedJobs } from '../../support/recorded-jobs.ts';

/** A job of `spot-then-on-demand` that waits for Spot for an hour. Batch has not listed yet what was submitted just now. */
async function waitingJob() {
  const { service, settings, project_id, experiments } = await recordedJobs(1);
  const { records } = service;
  const [{ experiment_id } = { experiment_id: '' }] = experiments;
  const read = () => requireExperiment(records, project_id, experiment_id);
  const set = { capacity: 'spot-then-on-demand', capacity_type: 'spot', status: 'RUNNABLE', status_rank: 3 };
  await records.write(changeJob(experimentKey(project_id, experiment_id), { set }));
  const record = await read();
  const waiting: BatchJob = {
    id: record.batch_job_id ?? '',
    name: batchNameOf(record),
    status: 'RUNNABLE',
    reason: undefined,
    createdAt: Date.now() - 3_600_000,
    attempt: 1,
    maxAttempts: 1,
    exitCode: undefined,
    attempts: [],
  };
  const left: BatchJob = { ...waiting, status: 'FAILED', reason: reasons.noSpot, isCancelled: true };
  const submitted: string[] = [];
  const batch = {
    ...emptyBatch,
    describe: async () => [waiting],
    submit: async ({ name }: Submission) => {
      submitted.push(name);
      return `b${submitted.length}`;
    },
  };
  return { records, settings, read, record, waiting, left, batch, submitted };
}

test('a job whose end on Spot comes as an event while the pass cancels it is submitted once', async () => {
  const { records, settings, read, record, waiting, left, batch, submitted } = await waitingJob();
  const moved: (Experiment | undefined)[] = [];
  const observed = {
    ...batch,
    describe: async () => (moved.length === 0 ? [waiting] : [left]),
    // The function that gets the event has recorded the move, and submits it next.
    async cancel() {
      moved.push((await observeJob(records, record, left, new Date())) as Experiment | undefined);
    },
  };

  await reconcileAll({ records, batch: observed, settings, now: () => new Date() });
  // The event comes again.
  const again = await observeJob(records, await read(), left, new Date());

  expect(moved).toMatchObject([{ status: 'CREATED', capacity_type: 'on-demand' }]);
  expect([submitted, again]).toEqual([[], undefined]);
});

test('a pass that dies between the cancellation and the submission leaves the job to the next one', async () => {
  const { records, settings, read, record, left, batch, submitted } = await waitingJob();
  await observeJob(records, record, left, new Date());

  await reconcileAll({ records, batch, settings, now: () => new Date() });

  expect(submitted).toEqual([`${batchNameOf(record)}-0-od`]);
  expect(await read()).toMatchObject({ status: 'SUBMITTED', batch_job_id: 'b1' });
});

test('a cancel at the moment of the move wins, and nothing is submitted on demand', async () => {
  const { records, settings, read, record, left, batch } = await waitingJob();
  // The function that moves the job has read it before the request.
  const asked = { cancel_requested_at: new Date().toISOString(), status_reason: reasons.cancelling };
  const { project_id, experiment_id } = record;
  await records.write(changeJob(experimentKey(project_id, experiment_id), { set: asked }));

  const moved = await observeJob(records, record, left, new Date());
  await cancelJob(records, batch, settings, await read(), { by: 'someone', now: new Date() });

  expect(moved).toBeUndefined();
  expect(await read()).toMatchObject({ status: 'CANCELLED', capacity_type: 'spot' });
});

test('a job that was submitted to Spot twice ends, also if the one that was forgotten runs after the move', async () => {
  const { records, read, record, waiting, left } = await waitingJob();
  await observeJob(records, record, left, new Date());
  // The container of the forgotten one has taken the lease.
  const { project_id, experiment_id } = record;
  const set = { status: 'RUNNING', status_rank: 5, batch_job_id: 'forgotten', batch_attempt: 1 };
  await records.write(changeJob(experimentKey(project_id, experiment_id), { set }));
  const attempt = { exitCode: undefined, reason: 'Host terminated.', startedAt: 1000, stoppedAt: 2000 };
  const lost: BatchJob = { ...waiting, id: 'forgotten', status: 'FAILED', attempts: [attempt] };

  const again = await observeJob(records, await read(), lost, new Date());

  expect(again).toMatchObject({ status: 'CREATED', capacity_type: 'on-demand', former_attempts: 1 });
});
