import { constants } from 'node:os';
import type { BatchJob } from '../aws/batch.ts';
import type { CapacityType } from '../core/capacity/capacity.ts';
import type { Limits } from '../core/settings.ts';
import { isHostLost, maxAttempts, maxLosses } from './host-loss.ts';
import type { JobRecord } from './job-record.ts';

/**
 * Sentences of a job's `status_reason`, in the order of a job's life. The user who started the job reads them. The
 * sentences that a container reports about its own command are in `shared/runner/job/conclusion-of.ts`.
 */
export const reasons = {
  inLine: 'Waits in line for a place.',
  itsTurn: 'It has left the line; not yet in the job queue.',
  submitted: 'Submitted to the job queue.',
  hostLost: 'Its host was lost; it is submitted again.',
  spotLost: (next: CapacityType): string =>
    `AWS took back its host on Spot; it is submitted again, ${next === 'spot' ? 'on Spot' : 'on demand'}.`,
  /** Of the Batch job, so that others know. */
  noSpot: 'Waited too long for Spot; submitted on demand instead.',
  leftSpot: 'There was no room on Spot; it is submitted on demand.',
  lostSpot: 'It may run on Spot alone, and this deployment has no Spot any more.',
  nowOnDemand: 'It runs on demand: this deployment has no Spot any more.',
  building: 'The environment is being built.',
  fetchingModel: 'Fetching the model.',
  fetchingSource: 'Fetching the source.',
  cancelling: 'Cancelling.',
  userDeleted: 'Its user was deleted before it started.',
  lost: 'The job queue no longer knows this job, and it never reported its end.',
  refused: (message: string): string => `The job queue refused the job: ${message}`,
  tooManyVcpus: (asked: number, allowed: number): string =>
    `It requests ${asked} vCPUs, but this deployment now allows ${allowed}.`,
  buildFailed: (build: BatchJob): string =>
    `The environment could not be built. ${lossReason(build, isHostLost(build) ? build.attempts.length : null)}`,
  waitedTooLong: (hours: number, { reason }: BatchJob): string =>
    `It waited ${hours} hours for compute capacity, the maximum.${quoted(reason)}`,
} as const;

/**
 * Return why a job failed if its supervisor reported nothing.
 * @param losses number of attempts that it lost in a row without progress; null if it did not lose its last host
 */
export function lossReason(job: BatchJob, losses: number | null): string {
  const said = quoted(job.reason);
  if (losses !== null) return `${boundReason(job, losses)} Start a new job.${said}`;
  if (job.exitCode === undefined) {
    if (job.attempts.length === 0) return `The job was ended before it ever ran.${said}`;
    if (!job.attempts.some(isStarted)) return `The container could not be started.${said}`;
    return `The job ended before it could report.${said}`;
  }
  if (isOutOfMemory(job)) return `The container ran out of memory and was killed (signal 9).${said}`;
  const number = job.exitCode - 128;
  const signal = number > 0 ? signalName(number) : undefined;
  const how =
    signal === undefined
      ? ` (exit code ${job.exitCode})`
      : `: its process was ${signal === 'SIGKILL' ? 'killed' : `ended by ${signal}`} (signal ${number})`;
  return `The container ended before it could report${how}.${said}`;
}

/** Return which bound ends a job whose hosts were lost. */
function boundReason({ attempts }: BatchJob, losses: number): string {
  if (losses < maxLosses && attempts.length >= maxAttempts)
    return `It lost its host ${attempts.length} times, the maximum.`;
  if (!attempts.slice(-losses).some(isStarted))
    return `The container could not be started, ${losses} times in a row, the maximum.`;
  return `It lost its host ${losses} times in a row without a new checkpoint or a metric at a later step, the maximum.`;
}

/** Whether Batch knows that a container was killed for its memory. Its exit code is that of any other kill. */
const isOutOfMemory = ({ reason }: BatchJob): boolean => reason?.includes('OutOfMemoryError') === true;

const quoted = (reason: string | undefined): string => (reason === undefined ? '' : ` Batch says: ${reason}`);

const isStarted = ({ startedAt }: BatchJob['attempts'][number]): boolean => startedAt !== undefined;

const signalName = (number: number): string | undefined =>
  Object.entries(constants.signals).find(([, other]) => other === number)?.[0];

/** Return why a job waits in its line, and its position. */
export function lineReason(
  { kind, vcpus: needed }: Pick<JobRecord, 'kind' | 'vcpus'>,
  position: number,
  places: number,
  { unfinishedJobs, vcpus }: Pick<Limits, 'unfinishedJobs' | 'vcpus'>,
): string {
  const stands = `this is ${ordinal(position)} in line.`;
  if (places >= unfinishedJobs) return `${places} of your jobs run; ${stands}`;
  if (kind === 'train-remote')
    return `Waits until the clusters of other owners have ended and enough of the ${vcpus} vCPUs are free; ${stands}`;
  const are = needed > 1 ? 'are' : 'is';
  return `Waits until ${needed} of the ${vcpus} vCPUs of this deployment ${are} free; ${stands}`;
}

/** Format an ordinal number: words up to `tenth`, then `11th`, `12th` and so on. */
function ordinal(number: number): string {
  const tens = number % 100;
  const isTeen = tens > 10 && tens < 20;
  const suffix = isTeen ? 'th' : (['th', 'st', 'nd', 'rd'][number % 10] ?? 'th');
  return words[number - 1] ?? `${number}${suffix}`;
}

const words = ['first', 'second', 'third', 'fourth', 'fifth', 'sixth', 'seventh', 'eighth', 'ninth', 'tenth'];

/** Return why a job in this Batch status does not run yet. Return null if no reason is known. */
export function waitReason(job: BatchJob & { status: keyof typeof atBatch }): string | null {
  const status = atBatch[job.status];
  const retried = job.attempt > 1 ? `Attempt ${job.attempt}, because the previous one ${lastEnd(job)}. ` : '';
  if (status === null) return retried === '' ? null : retried.trim();
  return `${retried}${status}${quoted(job.reason)}`;
}

const atBatch = {
  SUBMITTED: reasons.submitted,
  PENDING: 'Waits for another job to end first.',
  RUNNABLE: 'Waits for compute capacity.',
  STARTING: 'The container is starting.',
  RUNNING: null,
} as const;

/** Return how the last attempt ended. */
function lastEnd({ attempts }: BatchJob): string {
  const last = attempts.at(-1);
  return last === undefined || isStarted(last) ? 'was lost' : 'could not be started';
}

/** Return why the build of a job's environment has not begun. */
export const buildWaitReason = ({ reason }: BatchJob): string =>
  `The build of the environment waits for compute capacity.${quoted(reason)}`;

/** Stage at which a job was cancelled, as the end of a sentence. */
export type Early = 'before it started' | 'before its command started';

/**
 * Return the sentence that says who cancelled a job. `by` is null if no user asked for it, for example because its
 * project was deleted.
 */
export const cancelledReason = (by: string | null, early?: Early): string =>
  `Cancelled${by === null ? '' : ` by ${by}`}${early === undefined ? '' : ` ${early}`}.`;
