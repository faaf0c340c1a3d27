import * as z from 'zod';
import type { BatchJob } from '../../aws/batch.ts';
import type { CapacityType } from '../../core/capacity/capacity.ts';
import type { Settings } from '../../core/settings.ts';
import type { Attempt } from '../../data/jobs/job.ts';
import { actualCost, onDemandCost, type PaidJob, roundedDollars } from '../cost.ts';
import type { JobRecord } from '../job-record.ts';
import { reasons } from '../reasons.ts';
import { spotQueueOf } from './capacity.ts';

/*
 * A job on Spot makes one attempt for each submission. Its queue has Spot alone, because Batch would move on to another
 * environment of a queue at any price. So this service decides where the next attempt runs.
 */

/** Attempts on Spot after which `spot-then-on-demand` goes on demand. */
export const spotAttempts = 2;

/** Seconds for which a job waits for Spot before `spot-then-on-demand` goes on demand. */
export const spotWaitSeconds = 600;

/** Return where the next attempt runs after a host was lost. */
export function nextCapacityType(
  { capacity, capacity_type }: Pick<JobRecord, 'capacity' | 'capacity_type'>,
  attempts: readonly Pick<Attempt, 'capacity_type'>[],
): CapacityType | undefined {
  if (capacity !== 'spot-then-on-demand') return capacity_type;
  return onSpot(attempts).length < spotAttempts ? capacity_type : 'on-demand';
}

const onSpot = <A extends Pick<Attempt, 'capacity_type'>>(attempts: readonly A[]): A[] =>
  attempts.filter(({ capacity_type }) => capacity_type === 'spot');

/**
 * Return a recorded job with the capacity type of its next submission. The deployment may have lost the Spot for which it was
 * recorded.
 * @throws LostSpotError for a job that runs on Spot alone
 */
export function placedNow<R extends JobRecord>(record: R, settings: Pick<Settings, 'spotQueues'>): R {
  if (record.capacity_type !== 'spot' || spotQueueOf(record, settings) !== undefined) return record;
  if (record.capacity === 'spot') throw new LostSpotError();
  return { ...record, capacity_type: 'on-demand' };
}

/** A job that runs on Spot alone cannot be submitted. The message is for the user who started it. */
export class LostSpotError extends Error {
  override readonly name = 'LostSpotError';
  constructor() {
    super(reasons.lostSpot);
  }
}

/** Whether a job may leave Spot for on demand. */
export const mayLeaveSpot = ({ capacity, capacity_type, cancel_requested_at }: JobRecord): boolean =>
  capacity === 'spot-then-on-demand' && capacity_type === 'spot' && cancel_requested_at === null;

/**
 * Whether Batch will not start this job, because it waited for Spot too long. Batch says so at once, but ends it only when
 * it is the first of its queue.
 */
export const hasLeftSpot = (record: JobRecord, job: BatchJob): boolean =>
  mayLeaveSpot(record) &&
  job.attempts.length === 0 &&
  ((job.status === 'RUNNABLE' && job.isCancelled === true) || isNoSpot(job));

/** Whether the reconciler has cancelled a job because there was no room on Spot. It submits the job itself, or its next pass does. */
export const isNoSpot = ({ status, reason }: BatchJob): boolean =>
  status === 'FAILED' && reason?.startsWith(reasons.noSpot) === true;

/** What Spot did for a job. */
export const SpotAnswer = z
  .object({
    estimate: z.number().nullable().describe('US dollars for an attempt on Spot that reaches its timeout.'),
    interruptions: z.number().int().describe('Attempts on Spot whose host was lost.'),
    saved: z
      .number()
      .nullable()
      .describe('US dollars that it cost less than the same seconds on demand. Null before its end.'),
    on_demand_cost: z
      .number()
      .nullable()
      .describe('US dollars that the same seconds would have cost on demand. Null before its end.'),
  })
  .meta({ id: 'Spot' });

/** Return what Spot did for a job. Return null for a job that may not use Spot. */
export function spotAnswer(
  job: PaidJob & Pick<JobRecord, 'former_attempts' | 'capacity'>,
): z.infer<typeof SpotAnswer> | null {
  const { capacity = 'on-demand', estimates, attempts, former_attempts = 0 } = job;
  if (capacity === 'on-demand') return null;
  const [cost, on_demand_cost] = [actualCost(job), onDemandCost(job)];
  return {
    estimate: estimates?.spot ?? null,
    interruptions: onSpot(attempts.slice(0, former_attempts)).length,
    saved: cost === null || on_demand_cost === null ? null : roundedDollars(on_demand_cost - cost),
    on_demand_cost,
  };
}
