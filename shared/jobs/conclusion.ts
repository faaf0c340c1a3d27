import { markLeft } from '../data/experiments/catalogue-mark.ts';
import { releaseCheckpoints } from '../data/experiments/continuation.ts';
import { type Experiment, experimentPrefix } from '../data/experiments/experiment.ts';
import { putExportStep } from '../data/experiments/export-step.ts';
import type { HookEvent } from '../data/hooks/hook.ts';
import { noticeWrites } from '../data/hooks/notice.ts';
import { changeJob, endJob, endWaiting } from '../data/jobs/job.ts';
import { type FinalStatus, finalRank, isFinal } from '../data/jobs/job-status.ts';
import { changedLine, findLine, leaveLine, lineOf } from '../data/jobs/waiting-line.ts';
import { compressionRemains } from '../data/models/compression.ts';
import { modelPrefix } from '../data/models/model.ts';
import { type PurgeTarget, recordPurge } from '../data/projects/purge.ts';
import { putTime } from '../data/schedules/schedule-time.ts';
import { putTurn } from '../data/sweeps/sweep-turn.ts';
import type { Change, Condition } from '../data/table/condition.ts';
import { readAgain, retryOnConflict } from '../data/table/retry-on-conflict.ts';
import type { TableReader, TableWriter, Write } from '../data/table/table.ts';
import { ConditionFailedError } from '../data/table/write-label.ts';
import { settleCharges, settledFields } from './budget.ts';
import { isCompression, type JobRecord, jobIdOf, parseJobRecord, unfinishedJobOf } from './job-record.ts';

/** How a job ends. */
export interface Conclusion {
  status: FinalStatus;
  /** `status_reason` for the user. Null for a success. */
  reason: string | null;
  exitCode?: number | null;
  signal?: string | null;
  /** Whether a rule or a budget cancelled it, not a person. Hooks are told so. */
  isStopped?: boolean;
  /** Further attributes of the record. */
  change?: Change['set'];
}

/**
 * End a job in one transaction: its record becomes final, it leaves the list of unfinished jobs, and its
 * reservations are released. A waiting job leaves its line instead. `further` are writes of the same transaction,
 * for example the check of the lease.
 * @returns false if the job had already ended, or a condition of `further` does not hold
 * @example
 * await concludeJob(records, record, { status: 'FAILED', reason: reasons.lost }, now, ...purgeLeftovers(record, now));
 */
export async function concludeJob(
  records: TableWriter<'records'>,
  record: JobRecord,
  conclusion: Conclusion,
  now: Date,
  ...further: readonly Write[]
): Promise<boolean> {
  const job = unfinishedJobOf(record);
  const released = isCompression(record)
    ? []
    : [...releaseCheckpoints(record), ...owedTurn(record, now), ...owedExport(record, conclusion, now)];
  const told = await endNotices(records, record, conclusion, now);
  const end = async (): Promise<boolean | typeof readAgain> => {
    const charges = await currentCharges(records, record);
    // Batch may report the only attempt with the end of the job, which has its price too.
    const ended = { ...charges, ...conclusion.change };
    const set = { ...finalFields(conclusion, now), ...settledFields(ended, now) };
    const writes = [...released, ...told, ...settleCharges([ended], now), ...further];
    if (record.line_ticket !== null) return endInLine(records, record, record.line_ticket, set, writes);
    try {
      await records.write(
        changeJob(job.subject, { set }, unchangedCharges(charges)),
        ...endJob(job),
        ...writes,
      );
      return true;
    } catch (error) {
      if (!(error instanceof ConditionFailedError)) throw error;
      return (await hasNewCharges(records, charges)) ? readAgain : false;
    }
  };
  return retryOnConflict(end);
}

/**
 * Return a record with its present charges: a container changes them while its job runs. A job without a price has
 * none.
 */
async function currentCharges(records: TableReader<'records'>, record: JobRecord): Promise<JobRecord> {
  if (record.charged === null) return record;
  const item = await records.get(unfinishedJobOf(record).subject);
  return item === undefined ? record : { ...record, ...chargesOf(parseJobRecord(item)) };
}

const chargesOf = (record: JobRecord) => {
  const { charged, spent, started_at, attempt_started_at, batch_attempt, attempts, capacity_type } = record;
  return { charged, spent, started_at, attempt_started_at, batch_attempt, attempts, capacity_type };
};

/** Return the condition that nobody has changed the charges of a job since the read. */
export const unchangedCharges = ({ charged, spent }: JobRecord): Condition =>
  charged === null ? {} : { equals: { charged, spent } };

async function hasNewCharges(records: TableReader<'records'>, before: JobRecord): Promise<boolean> {
  if (before.charged === null) return false;
  const item = await records.get(unfinishedJobOf(before).subject);
  if (item === undefined) return false;
  const { charged, spent, status } = parseJobRecord(item);
  return !isFinal(status) && (charged !== before.charged || spent !== before.spent);
}

/** Build the write that lets the sweep or schedule of an ended experiment decide. Return none for an experiment of neither. */
export function owedTurn({ sweep, schedule_id, experiment_id, project_id }: Experiment, now: Date): Write[] {
  const at = now.toISOString();
  if (sweep !== undefined)
    return [putTurn({ turn_id: experiment_id, project_id, sweep_id: sweep.sweep_id, created_at: at })];
  return schedule_id === undefined ? [] : [putTime({ at, time_id: experiment_id, project_id, schedule_id })];
}

/** Build the write that lets a successful export be registered and compressed. */
const owedExport = (
  { model_export, experiment_id, project_id }: Experiment,
  { status }: Conclusion,
  now: Date,
): Write[] =>
  model_export === undefined || status !== 'SUCCEEDED'
    ? []
    : [putExportStep({ experiment_id, project_id, created_at: now.toISOString() })];

/** Build the write that tells hooks of a job's end. Return none if no hook asks for it. */
export async function endNotices(
  records: TableWriter<'records'>,
  record: JobRecord,
  { status, reason, isStopped }: Pick<Conclusion, 'status' | 'reason' | 'isStopped'>,
  now: Date,
): Promise<Write[]> {
  if (!isCompression(record)) {
    const { project_id, experiment_id: subject } = record;
    const type = isStopped === true ? 'experiment.stopped' : experimentEvents[status];
    return noticeWrites(records, { type, project_id, subject }, now);
  }
  const { project_id, strategy_id, kind, model_name } = record;
  if (project_id === undefined || status === 'CANCELLED') return [];
  const type = status === 'SUCCEEDED' ? 'strategy.succeeded' : 'strategy.failed';
  const name = `${kind} ${record.request.strategy} of ${model_name}`;
  const facts = { name, strategy_id, kind, model_name, status, ...(reason !== null && { reason }) };
  return noticeWrites(records, { type, project_id, subject: strategy_id, facts }, now);
}

/** Events of an experiment's end. */
export const experimentEvents = {
  SUCCEEDED: 'experiment.succeeded',
  FAILED: 'experiment.failed',
  CANCELLED: 'experiment.cancelled',
} as const satisfies Record<FinalStatus, HookEvent>;

/** Return the attributes of an ended job's record. */
export const finalFields = (conclusion: Conclusion, now: Date) => ({
  status: conclusion.status,
  status_rank: finalRank,
  status_reason: conclusion.reason,
  stopped_at: now.toISOString(),
  exit_code: conclusion.exitCode ?? null,
  signal: conclusion.signal ?? null,
  ...conclusion.change,
});

/**
 * End a waiting job in one transaction: its record becomes final, and it leaves its line.
 * @param set the attributes of the record at its end
 * @returns false if it has already ended or left the line
 */
async function endInLine(
  records: TableWriter<'records'>,
  record: JobRecord,
  line_ticket: number,
  set: Change['set'],
  further: readonly Write[],
): Promise<boolean> {
  const job = unfinishedJobOf(record);
  const marked = isCompression(record) ? [] : [markLeft(record.project_id, record.experiment_id)];
  const end = async (): Promise<boolean> => {
    const line = await findLine(records, lineOf(job));
    const leaving = line === undefined ? [] : leaveLine(line, line_ticket);
    try {
      const change = changeJob(
        job.subject,
        { set: { ...set, line_ticket: null } },
        { equals: { line_ticket } },
      );
      await records.write(change, ...marked, ...endWaiting(job), ...leaving, ...further);
      return true;
    } catch (error) {
      if (error instanceof ConditionFailedError && !error.isOnly(changedLine)) return false;
      throw error;
    }
  };
  return retryOnConflict(end);
}

/**
 * Build the purge that goes with the end of a job whose container did not conclude it. A container that died
 * between an upload and its record leaves an object that no record names, and experiments that its program began
 * keep running. Return no write for a job that was not
 * submitted, so no container can have started since the record was read.
 */
export function purgeLeftovers(record: JobRecord, now: Date): Write[] {
  if (record.line_ticket !== null) return [];
  const purge_id = jobIdOf(record);
  const created_at = now.toISOString();
  return [recordPurge({ purge_id, created_at, again_at: null, target: targetOf(record) })];
}

function targetOf(record: JobRecord): PurgeTarget {
  // No record names a result of this compression, because its container did not conclude it.
  if (isCompression(record)) {
    // Copies for the model that the result would have become.
    const copies = record.result_name === null ? [] : [modelPrefix(record.strategy_id)];
    return { partitions: [], prefixes: [...compressionRemains(record).prefixes, ...copies] };
  }
  const { project_id, experiment_id: job_id } = record;
  return {
    partitions: [],
    prefixes: [],
    leftovers: { job_id, prefix: experimentPrefix(project_id, job_id) },
    begun_by: { project_id, experiment_id: job_id },
    ...(mayBuild(record) && { packs_of: project_id }),
  };
}

/** Whether a container of the job may have built an environment. */
const mayBuild = ({ environment: { env_type } }: Experiment): boolean =>
  env_type === 'python' || env_type === 'node';
