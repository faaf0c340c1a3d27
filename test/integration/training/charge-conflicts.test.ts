import { expect, test } from 'vitest';
import { createLogger } from '../../../shared/core/log.ts';
import { experimentKey, parseExperiment } from '../../../shared/data/experiments/experiment.ts';
import { monthOf, readCosts, storeBudget } from '../../../shared/data/jobs/budget.ts';
import { changeJob } from '../../../shared/data/jobs/job.ts';
import type { TableWriter } from '../../../shared/data/table/table.ts';
import { ConditionFailedError } from '../../../shared/data/table/write-label.ts';
import { acquireLease } from '../../../shared/jobs/acquire-lease.ts';
import { JobCharges } from '../../../shared/runner/job/charge-job.ts';
import { Heart } from '../../../shared/runner/job/heart.ts';
import { JobStop } from '../../../shared/runner/job/job-stop.ts';
import { recordedJobs } from '../../support/recorded-jobs.ts';

/** A job that has cost US$ 2 of the 10 that it is charged, and the month of its project. `fails` says how a write fails. */
async function spentJob(budget: number | null, fails: () => Error | undefined) {
  const { service, settings, project_id, experiments } = await recordedJobs(1);
  const [
    { experiment_id, batch_job_id, created_at } = { experiment_id: '', batch_job_id: '', created_at: '' },
  ] = experiments;
  const subject = experimentKey(project_id, experiment_id);
  const set = { cost_estimate: 10, charged: 10, timeout: 1000, budget };
  await service.records.write(changeJob(subject, { set }));
  const me = { batch_job_id: batch_job_id ?? '', batch_attempt: 1, node: 0, isBuild: false };
  const began = new Date();
  const acquired = await acquireLease(service.records, { subject, parse: parseExperiment }, me, began, 'a');
  if ('refused' in acquired) throw new Error(acquired.refused);
  const records: TableWriter<'records'> = {
    ...service.records,
    async write(...writes) {
      const error = fails();
      if (error !== undefined) throw error;
      await service.records.write(...writes);
    },
  };
  const stop = new JobStop();
  const now = () => new Date(began.getTime() + 200_000);
  const log = createLogger('error', () => {});
  const charges = new JobCharges({
    ...acquired,
    node: 0,
    records,
    settings,
    stop,
    heart: new Heart(),
    watch: undefined as never,
    log,
    now,
  });
  const month = async () =>
    (await readCosts(records, [{ owner_id: project_id, period: monthOf(created_at) }]))[0]?.cost;
  const beat = () => charges.note();
  return { project_id, records: service.records, stop, beat, month };
}

const contended = () => Object.assign(new Error('others write it'), { name: 'TransactionCanceledException' });

test.for([
  ['its own', 1.5, null],
  ['that of its project', null, 1.5],
] as const)(
  'a budget that is used up, %s, stops a job also while others write the month',
  async ([, own, all]) => {
    const { project_id, records, stop, beat } = await spentJob(own, contended);
    if (all !== null) await storeBudget(records, project_id, all, new Date());

    await beat();

    expect(stop.reason).toMatchObject({ kind: 'budget' });
  },
);

test('a job that another job kept from the write notices the budget at its next heartbeat, and stops then', async () => {
  const failures = [new ConditionFailedError()];
  const { project_id, records, stop, beat, month } = await spentJob(null, () => failures.pop());
  await storeBudget(records, project_id, 1.5, new Date());

  await beat();
  const first = stop.reason;
  await beat();

  expect(first).toBeUndefined();
  expect(stop.reason).toMatchObject({ kind: 'budget' });
  expect(await month()).toMatchObject({ notice: 'reached' });
});
