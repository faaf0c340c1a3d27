import type { BatchControl } from '../aws/batch.ts';
import type { Capacity } from '../core/capacity/capacity.ts';
import { ServiceError } from '../core/service-error.ts';
import type { Limits } from '../core/settings.ts';
import { originOf, type TokenOrigin } from '../data/accounts/ci-run.ts';
import { budgetLeft } from '../data/jobs/budget.ts';
import { type JobFields, newJob, sizeLimits } from '../data/jobs/job.ts';
import { limitShare } from '../data/jobs/vcpu-shares.ts';
import { findLine, lineOf } from '../data/jobs/waiting-line.ts';
import { retryOnConflict } from '../data/table/retry-on-conflict.ts';
import type { TableReader, TableWriter, Write } from '../data/table/table.ts';
import { ConditionFailedError } from '../data/table/write-label.ts';
import type { Ambient, BegunBy } from '../http/definition/endpoint-context.ts';
import { budgetShortCode, chargeBudgets, highestCost, requireBudgets } from './budget.ts';
import { costEstimate, costEstimates, noPriceMessage } from './cost.ts';
import { type JobRecord, jobIdOf, unfinishedJobOf } from './job-record.ts';
import { JobLimitError } from './job-slots.ts';
import type { JobSize } from './size.ts';
import { submitInRequest } from './submission.ts';
import { beginOrWait, startWaitingInRequest, waitingFields } from './waiting-queue.ts';

/** Recorded job, and whether it waits in line. */
export interface Admitted<R extends JobRecord> {
  record: R;
  waits: boolean;
}

/**
 * Record a job and give it a place, or put it in line. A recorded job always reaches an end: if this process dies
 * before it submits the job to Batch, the reconciler submits it.
 * @param writesOf returns the writes that store a record, and those of the same transaction
 * @param refusal returns the error to throw if a condition of these writes does not hold
 * @throws ServiceError `conflict` if the user's line is full, or a budget of the month has too little left
 * @example
 * const admitted = await admitJob(compression, (record) => [putCompression(record)], () => notFound('model', name), context);
 * return answerAdmitted(admitted, answer, context, true);
 */
export async function admitJob<R extends JobRecord>(
  record: R,
  writesOf: (record: R) => readonly Write[],
  refusal: (error: ConditionFailedError) => Error,
  { records, settings, now }: Pick<Ambient, 'settings' | 'now'> & { records: TableWriter<'records'> },
): Promise<Admitted<R>> {
  const { limits } = settings;
  const charged = chargedCost(record);
  const job = { ...record, charged };
  // Written before it acts, so that nobody else submits the job meanwhile.
  const claimed = { ...job, submitting_at: now().toISOString() };
  const admit = async (): Promise<boolean> => {
    const charges = charged === null ? [] : await chargeBudgets(records, job, charged);
    const write = (ticket: number | null) => [
      ...writesOf(ticket === null ? claimed : { ...job, ...waitingFields(ticket) }),
      ...charges,
    ];
    return beginOrWait(records, unfinishedJobOf(job), limits, write, now());
  };
  try {
    const isConflict = (error: ConditionFailedError) => budgetLeft.failedIn(error);
    const waits = await retryOnConflict(admit, { isConflict });
    return { record: waits ? job : claimed, waits };
  } catch (error) {
    if (error instanceof ConditionFailedError) throw refusal(error);
    if (error instanceof JobLimitError) throw lineIsFull(limits);
    throw error;
  }
}

/** Return what a job is charged. @throws ServiceError `conflict` if a token with a budget pays, and compute has no price */
function chargedCost(job: Parameters<typeof highestCost>[0] & TokenOrigin): number | null {
  const charged = highestCost(job);
  if (charged === null && job.charged_token !== undefined)
    throw new ServiceError('conflict', `The budget of your token ${noPriceMessage}`, {
      code: budgetShortCode,
    });
  return charged;
}

/**
 * Refuse what {@link admitJob} would refuse now, and record nothing.
 * @param project undefined if it is still to be created
 * @throws ServiceError `conflict` if the user's line is full, or a budget has too little left
 */
export async function requireRoom(
  records: TableReader<'records'>,
  { caller, project, budget, at, cost_estimate, nodes }: Planned,
  limits: Limits,
): Promise<void> {
  const origin = originOf(caller);
  const charged = chargedCost({ cost_estimate, budget: budget ?? null, ...origin });
  const { user_id } = caller;
  if (charged !== null)
    await requireBudgets(records, { user_id, project_id: project?.project_id, ...origin }, charged, at);
  const cluster_owner = nodes > 1 ? (project?.owner_id ?? user_id) : null;
  const line = await findLine(records, lineOf({ user_id, cluster_owner }));
  if (line !== undefined && line.waiting >= limits.waitingJobs) throw lineIsFull(limits);
}

interface Planned {
  caller: BegunBy;
  project: { project_id: string; owner_id: string } | undefined;
  budget: number | undefined;
  at: Date;
  cost_estimate: number | null;
  nodes: number;
}

const lineIsFull = ({ waitingJobs }: Limits): ServiceError =>
  new ServiceError(
    'conflict',
    `You have ${waitingJobs} waiting jobs, the maximum of this deployment. Wait until one starts, or cancel one.`,
  );

/** Size of a job, and the compute that it runs on. */
interface Demand {
  size: JobSize & { nodes: number; timeout: number };
  /** Whether it runs on EC2 nodes; otherwise on Fargate. */
  isOnNodes: boolean;
  /** Whether its command runs in an image of the user. The container engine then enforces the limits. */
  isImage: boolean;
  capacity: Capacity;
}

/** Return the fields that every new job has. */
export function newJobFields(
  job_id: string,
  { size, isOnNodes, isImage, capacity }: Demand,
  { caller, now, settings }: Pick<Ambient, 'now' | 'settings'> & { caller: BegunBy },
): JobFields & { cost_estimate: number | null } {
  const priced = { ...size, isOnNodes, capacity };
  const estimates = capacity === 'on-demand' ? undefined : costEstimates(settings.prices, priced);
  const asProcess = settings.jobsRunAs === 'processes' && !isImage;
  return {
    ...newJob({
      ...size,
      user_id: caller.user_id,
      created_at: now().toISOString(),
      limit_share: limitShare(job_id, settings.limits.vcpus),
      limits: sizeLimits({ ...settings, asProcess, isOnNodes }),
    }),
    capacity,
    capacity_type: capacity === 'on-demand' ? 'on-demand' : 'spot',
    ...(estimates !== undefined && { estimates }),
    cost_estimate: costEstimate(settings.prices, priced),
    ...originOf(caller),
  };
}

/** Services that a submission to Batch uses. */
export type Submitting = Pick<Ambient, 'now' | 'settings' | 'log'> & {
  records: TableWriter<'records'>;
  batch: BatchControl;
  keys: TableReader<'accounts'>;
};

/** Functions that read a job of one kind and build its response. */
export interface JobAnswer<R extends JobRecord, A> {
  read(job_id: string): Promise<R>;
  answer(record: R): Promise<A>;
}

/**
 * Submit a recorded job to Batch, or start the next jobs in line if it waits. Errors of Batch are logged, and the
 * reconciler repeats the submission, also if this process dies before.
 * @param isFirst whether this is certainly the first submission
 */
export async function submitAdmitted(
  { record, waits }: Admitted<JobRecord>,
  context: Submitting,
  isFirst = true,
): Promise<void> {
  if (waits) await startWaitingInRequest(context, record, context.log);
  else await submitInRequest(record, context, isFirst);
}

/** Submit a recorded job as {@link submitAdmitted} does, and answer with its state after that. */
export async function answerAdmitted<R extends JobRecord, A>(
  admitted: Admitted<R>,
  { read, answer }: JobAnswer<R, A>,
  context: Submitting,
  isFirst = true,
): Promise<A> {
  await submitAdmitted(admitted, context, isFirst);
  return answer(await read(jobIdOf(admitted.record)));
}

/**
 * Answer a repeated request with its job. The process that recorded the job may have died before it submitted it.
 */
export async function replayAdmitted<R extends JobRecord, A>(
  job_id: string,
  how: JobAnswer<R, A>,
  context: Submitting,
): Promise<A> {
  const record = await how.read(job_id);
  if (record.status !== 'CREATED') return how.answer(record);
  return answerAdmitted({ record, waits: record.line_ticket !== null }, how, context, false);
}
