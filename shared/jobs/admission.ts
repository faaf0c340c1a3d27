import type { BatchControl } from '../aws/batch.ts';
import { ServiceError } from '../core/service-error.ts';
import type { Limits } from '../core/settings.ts';
import { type JobFields, newJob, sizeLimits } from '../data/jobs/job.ts';
import { limitShare } from '../data/jobs/vcpu-shares.ts';
import type { TableReader, TableWriter, Write } from '../data/table/table.ts';
import { ConditionFailedError } from '../data/table/write-label.ts';
import type { Ambient, Caller } from '../http/definition/endpoint-context.ts';
import { costEstimate } from './cost.ts';
import { beginOrWait, startWaitingInRequest, waitingFields } from './line.ts';
import { JobLimitError } from './place.ts';
import type { JobSize } from './size.ts';
import { type JobRecord, jobIdOf, unfinishedJobOf } from './subject.ts';
import { submitInRequest } from './submission.ts';

/** A job that was recorded, and whether it waits in line. */
export interface Admitted<R extends JobRecord> {
  record: R;
  waits: boolean;
}

/**
 * Record a job and give it a place, or let it wait in line. From then on it reaches an end: if this process dies before
 * the job is handed to Batch, the reconciler submits it.
 * @param writesOf the writes that store the record they are given, and go with it
 * @param refusal the error to throw where a condition of these writes does not hold
 * @throws ServiceError `conflict` where as many jobs of the user wait as may
 * @example
 * const admitted = await admitJob(strategy, (record) => [putStrategy(record)], () => notFound('model', name), context);
 * return answerAdmitted(admitted, answer, context, true);
 */
export async function admitJob<R extends JobRecord>(
  record: R,
  writesOf: (record: R) => readonly Write[],
  refusal: (error: ConditionFailedError) => Error,
  { records, settings, now }: Pick<Ambient, 'settings' | 'now'> & { records: TableWriter<'records'> },
): Promise<Admitted<R>> {
  const { limits } = settings;
  const write = (ticket: number | null) =>
    writesOf(ticket === null ? record : { ...record, ...waitingFields(ticket) });
  try {
    const waits = await beginOrWait(records, unfinishedJobOf(record), limits, write, now());
    return { record, waits };
  } catch (error) {
    if (error instanceof ConditionFailedError) throw refusal(error);
    if (error instanceof JobLimitError) throw lineIsFull(limits);
    throw error;
  }
}

const lineIsFull = ({ waitingJobs }: Limits): ServiceError =>
  new ServiceError(
    'conflict',
    `${waitingJobs} of your jobs wait in line, the maximum of this deployment; wait until one starts, or cancel one.`,
  );

/** The size of a job, and what it runs on. */
interface Demand {
  size: JobSize & { nodes: number; timeout: number };
  /** Whether it runs on EC2 nodes; otherwise on Fargate. */
  isOnNodes: boolean;
  /** Whether its command runs in an image of the user, whose engine limits it. */
  isImage: boolean;
}

/** The fields that every new job has, whatever it does. */
export function newJobFields(
  job_id: string,
  { size, isOnNodes, isImage }: Demand,
  { caller, now, settings }: Pick<Ambient, 'now' | 'settings'> & { caller: Caller },
): JobFields & { cost_estimate: number | null } {
  const asProcess = settings.jobsRunAs === 'processes' && !isImage;
  return {
    ...newJob({
      ...size,
      user_id: caller.user_id,
      created_at: now().toISOString(),
      limit_share: limitShare(job_id, settings.limits.vcpus),
      limits: sizeLimits({ asProcess, isOnNodes }),
    }),
    cost_estimate: costEstimate(settings.prices, { ...size, isOnNodes }),
  };
}

/** The services that hand a job to Batch. */
export type Submitting = Pick<Ambient, 'now' | 'settings' | 'log'> & {
  records: TableWriter<'records'>;
  batch: BatchControl;
  keys: TableReader<'accounts'>;
};

/** How jobs of one kind are read and answered. */
export interface JobAnswer<R extends JobRecord, A> {
  read(job_id: string): Promise<R>;
  answer(record: R): Promise<A>;
}

/**
 * Hand a recorded job to Batch, or start the next in line where it waits, and answer it as it is then. An error of Batch
 * is logged; the reconciler repeats the submission.
 * @param isFirst whether nobody can have submitted it before
 */
export async function answerAdmitted<R extends JobRecord, A>(
  { record, waits }: Admitted<R>,
  { read, answer }: JobAnswer<R, A>,
  context: Submitting,
  isFirst = true,
): Promise<A> {
  if (waits) await startWaitingInRequest(context, record, context.log);
  else await submitInRequest(record, context, isFirst);
  return answer(await read(jobIdOf(record)));
}

/** Answer a repeated request by its job. The process that recorded it may have died before it submitted it. */
export async function replayAdmitted<R extends JobRecord, A>(
  job_id: string,
  how: JobAnswer<R, A>,
  context: Submitting,
): Promise<A> {
  const record = await how.read(job_id);
  if (record.status !== 'CREATED') return how.answer(record);
  return answerAdmitted({ record, waits: record.line_ticket !== null }, how, context, false);
}
