import { expect, test } from 'vitest';
import { readSettings } from '../../../shared/core/settings.ts';
import { requireExperiment } from '../../../shared/data/experiments/experiment.ts';
import { submitJob } from '../../../shared/jobs/submission.ts';
import { idleBatch } from '../../support/ended-run.ts';
import { scheduledProject } from './recorded-schedule.ts';

/** A schedule of a deployment whose Spot is gone when it fires. */
async function withoutSpot(capacity: string) {
  const project = await scheduledProject({ TRAIN_SPOT_QUEUE: 'train-spot' });
  const { schedule_id } = await project.make({ capacity });
  const fire = async () => {
    await project.untilNext(schedule_id);
    await project.look({ repeats: true }, { without: ['TRAIN_SPOT_QUEUE'] });
    return project.read(schedule_id);
  };
  return { ...project, fire };
}

test('a schedule of Spot alone fails with the reason, and is paused after three times', async () => {
  const { fire, experiments } = await withoutSpot('spot');

  const first = await fire();
  await fire();
  const last = await fire();

  const reason = 'It could not begin: capacity: must be on-demand: this deployment has no Spot queue';
  expect(await experiments()).toEqual([]);
  expect(first).toMatchObject({ status: 'ACTIVE', failures: 1, recent: [{ result: 'failed', reason }] });
  expect(last).toMatchObject({
    status: 'PAUSED',
    status_reason: `Its last 3 runs failed. The last one: ${reason}`,
  });
});

test('one that may go on demand does so, and each run says it', async () => {
  const { fire, running } = await withoutSpot('spot-then-on-demand');

  const { recent } = await fire();

  expect(await running()).toMatchObject([{ capacity: 'on-demand', capacity_type: 'on-demand' }]);
  expect(recent).toMatchObject([
    { result: 'running', reason: 'It runs on demand: this deployment has no Spot any more.' },
  ]);
});

test.for([
  { capacity: 'spot', ends: { status: 'FAILED', status_reason: expect.stringContaining('Spot alone') } },
  { capacity: 'spot-then-on-demand', ends: { status: 'SUBMITTED', capacity_type: 'on-demand' } },
])('a run of $capacity that is submitted after Spot is gone says so', async ({ capacity, ends }) => {
  const project = await scheduledProject({ TRAIN_SPOT_QUEUE: 'train-spot' });
  const { records, accounts, environment } = project.service;
  const { schedule_id } = await project.make({ capacity });
  await project.untilNext(schedule_id);
  // Batch takes nothing, so its first submission fails.
  const refuse = () => Promise.reject(new Error('away'));
  await project.look({ repeats: true }, { batch: { ...idleBatch, submit: refuse } });
  const [begun] = await project.experiments();
  if (begun === undefined) throw new Error('nothing was begun');

  const { TRAIN_SPOT_QUEUE: _, ...rest } = environment;
  const claimant = { now: new Date(project.now().getTime() + 60_000) };
  await submitJob(records, idleBatch, readSettings(rest), begun, claimant, accounts);

  expect(begun).toMatchObject({ status: 'CREATED', capacity_type: 'spot' });
  expect(await requireExperiment(records, project.project_id, begun.experiment_id)).toMatchObject(ends);
});
