import { expect, test } from 'vitest';
import { faultsOf } from '../../../shared/core/service-error.ts';
import { readSettings } from '../../../shared/core/settings.ts';
import { actualCost, costEstimates } from '../../../shared/jobs/cost.ts';
import { batchNameOf, jobOfBatchName } from '../../../shared/jobs/job-record.ts';
import { allowedSize } from '../../../shared/jobs/size.ts';
import { capacityFault, possibleCapacity } from '../../../shared/jobs/spot/capacity.ts';
import { hasLeftSpot, nextCapacityType, spotAnswer } from '../../../shared/jobs/spot/spot.ts';
import { experimentOf } from '../../support/experiment.ts';

const variables = { RECORDS_TABLE: 'records', BUCKET: 'bucket' };
const deployed = readSettings({ ...variables, TRAIN_SPOT_QUEUE: 'spot', CAPACITY: 'spot-then-on-demand' });
const machine = readSettings({ ...variables, JOBS_RUN_AS: 'processes' });
const training = { kind: 'train' as const, gpus: 0 };
const cluster = { kind: 'train-remote' as const, gpus: 0 };

test('a job has the capacity that is asked for, else that of the deployment, if there is Spot for it', () => {
  expect(possibleCapacity(undefined, training, deployed)).toBe('spot-then-on-demand');
  expect(possibleCapacity('spot', training, deployed)).toBe('spot');
  expect(possibleCapacity(undefined, cluster, deployed)).toBe('on-demand');
  expect(possibleCapacity('spot-then-on-demand', training, machine)).toBe('on-demand');
  expect(capacityFault('spot-then-on-demand', training, machine)).toBeUndefined();
  expect(capacityFault('spot', training, machine)).toContain('this machine has no Spot');
  expect(capacityFault('spot', { ...training, gpus: 1 }, deployed)).toContain('no Spot with GPUs');
  expect(capacityFault('spot-then-on-demand', cluster, deployed)).toContain('for a cluster');
});

test('what repeats a job of Spot alone is refused where there is no Spot; others are on demand', () => {
  const size = () => ({ vcpus: 1, memory: 2048, gpus: 0 });
  const demand = { ...training, timeout: undefined, nodes: 1, capacity: undefined };

  expect(faultsOf(() => allowedSize(size, { ...demand, usual: 'spot' }, machine))).toMatchObject([
    { name: 'capacity', message: expect.stringContaining('this machine has no Spot') },
  ]);
  expect(allowedSize(size, { ...demand, usual: 'spot' }, deployed).capacity).toBe('spot');
  expect(allowedSize(size, { ...demand, usual: 'spot-then-on-demand' }, machine).capacity).toBe('on-demand');
});

const spot = { capacity_type: 'spot' as const };

test('two attempts are on Spot, whatever they kept, and all others on demand', () => {
  const job = { capacity: 'spot-then-on-demand' as const, ...spot };

  expect(nextCapacityType(job, [spot])).toBe('spot');
  expect(nextCapacityType(job, [spot, spot])).toBe('on-demand');
  expect(nextCapacityType({ ...job, capacity_type: 'on-demand' }, [spot, spot, {}])).toBe('on-demand');
  expect(nextCapacityType({ ...job, capacity: 'spot' }, Array(9).fill(spot))).toBe('spot');
  expect(nextCapacityType({ capacity: undefined, capacity_type: undefined }, [{}, {}, {}])).toBeUndefined();
});

const at = (seconds: number): string => new Date(1_700_000_000_000 + seconds * 1000).toISOString();

test('each attempt costs what it costs where it ran, and what Spot saved is said', () => {
  const prices = { fargate: { base: 0, vcpu: 1, gib: 0 }, spot: { fargate: 0.3, nodes: 0.5 }, nodes: [] };
  const size = { isOnNodes: false, vcpus: 1, memory: 0, gpus: 0, nodes: 1, timeout: 3600 };
  const estimates = costEstimates(prices, size)!;
  const attempt = { attempt: 1, exit_code: null, reason: null };
  const job = {
    capacity: 'spot-then-on-demand' as const,
    capacity_type: 'on-demand' as const,
    estimates,
    cost_estimate: estimates['on-demand'],
    timeout: 3600,
    started_at: at(0),
    stopped_at: at(7200),
    attempt_started_at: at(6840),
    batch_attempt: 3,
    former_attempts: 2,
    attempts: [
      { ...attempt, started_at: at(0), stopped_at: at(3600), ...spot },
      { ...attempt, started_at: at(3700), stopped_at: at(5500), ...spot },
    ],
  };

  expect(estimates).toEqual({ spot: 0.3, 'on-demand': 1 });
  expect(actualCost(job)).toBe(0.55);
  expect(spotAnswer(job)).toEqual({ estimate: 0.3, interruptions: 2, saved: 1.05, on_demand_cost: 1.6 });
  expect(spotAnswer({ ...job, stopped_at: null })).toMatchObject({ saved: null, on_demand_cost: null });
  expect(spotAnswer({ ...job, capacity: 'on-demand' })).toBeNull();
});

test('late news of the submission on Spot that a job left have another name', () => {
  const onSpot = { ...experimentOf('0'.repeat(26), null), capacity: 'spot-then-on-demand' as const, ...spot };
  const after = { ...onSpot, former_attempts: 1 };
  const moved = { ...after, capacity_type: 'on-demand' as const };
  const job = { id: 'b', status: 'RUNNABLE' as const, attempt: 1, exitCode: undefined, attempts: [] };
  const waiting = { ...job, name: batchNameOf(after), reason: undefined };

  expect(batchNameOf(moved)).toBe(`${batchNameOf(after)}-od`);
  expect(jobOfBatchName(batchNameOf(moved))).toEqual({ job_id: moved.experiment_id, isBuild: false });
  // Batch ends a cancelled job only when it is the first of its queue.
  expect(hasLeftSpot(after, waiting)).toBe(false);
  expect(hasLeftSpot(after, { ...waiting, isCancelled: true })).toBe(true);
  expect(hasLeftSpot({ ...after, capacity: 'spot' }, { ...waiting, isCancelled: true })).toBe(false);
  expect(hasLeftSpot({ ...after, cancel_requested_at: at(0) }, { ...waiting, isCancelled: true })).toBe(
    false,
  );
});
