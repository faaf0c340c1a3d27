import type { Timers } from '../aws/signed/timers.ts';
import { errorName } from '../core/error-text.ts';
import { ServiceError } from '../core/service-error.ts';
import { originOf, type TokenOrigin } from '../data/accounts/ci-run.ts';
import type { Experiment } from '../data/experiments/experiment.ts';
import { noticeWrites } from '../data/hooks/notice.ts';
import { findProjects } from '../data/projects/project.ts';
import { findDataset } from '../data/projects/upload.ts';
import {
  changedSchedule,
  findSchedule,
  readScheduleConfig,
  replaceSchedule,
  type Schedule,
  type ScheduleIds,
} from '../data/schedules/schedule.ts';
import { putTime, removeTime, type ScheduleTime } from '../data/schedules/schedule-time.ts';
import { retryOnConflict } from '../data/table/retry-on-conflict.ts';
import type { TableReader, Write } from '../data/table/table.ts';
import { type Admitted, type Submitting, submitAdmitted } from '../jobs/admission.ts';
import { reasons } from '../jobs/reasons.ts';
import { allowedSize, fargateSize, nodeSize } from '../jobs/size.ts';
import {
  type BeginContext,
  datasetFields,
  recordExperiment,
  type TrainingInputs,
} from '../training/record-experiment.ts';
import { missingRight } from './owner-rights.ts';
import {
  afterFailures,
  type DueRun,
  dueRun,
  paused,
  rescheduled,
  withBegun,
  withEnd,
  withRun,
} from './schedule-state.ts';

/** Services that a schedule uses when its time has come. */
export type ScheduleContext = Submitting &
  Pick<BeginContext, 'newId'> & {
    /** Users and their tokens. */
    owners: TableReader<'accounts'>;
    /** Timers of AWS; undefined where the service looks at the list of times itself. */
    timers: Timers | undefined;
  };

/**
 * Do what a schedule has to do now: take in the end of its experiment, begin the next one, or pause. Each step is one
 * transaction, on condition that nobody else took one since the read. So any process may call this at any time, also in parallel
 * and again, and no time fires twice.
 * @param time row that asks for it; it is removed at the end. If the process dies before, the row is still there
 */
export async function advanceSchedule(
  context: ScheduleContext,
  ids: ScheduleIds,
  time?: ScheduleTime,
): Promise<void> {
  const { records } = context;
  const left: Pick<ScheduleTime, 'at' | 'time_id'>[] = time === undefined ? [] : [time];
  let goesOn = true;
  // If the clock was set back since the row was read, the row is still the timer of the next time.
  let next_at: string | null = null;
  while (goesOn) {
    const step = await retryOnConflict(() => takeStep(context, ids), {
      isConflict: (error) => changedSchedule.failedIn(error),
    });
    if (step.begun !== undefined) await submitAdmitted(step.begun, context);
    left.push(...step.left);
    goesOn = step.hasChanged;
    next_at = step.next_at ?? null;
  }
  await setTimer(context, ids, next_at);
  const over = left.filter(({ at, time_id }) => at !== next_at || time_id !== ids.schedule_id);
  if (over.length > 0) await records.write(...over.map(removeTime));
}

interface Step {
  /** Experiment that the step has recorded. */
  begun?: Admitted<Experiment>;
  /** Whether it changed the schedule, so more may have to be done. */
  hasChanged: boolean;
  /** Next time of a schedule that the step has left as it is. */
  next_at?: string | null;
  /** Rows of times that are over. */
  left: readonly ScheduleTime[];
}

async function takeStep(context: ScheduleContext, ids: ScheduleIds): Promise<Step> {
  const { records, now } = context;
  const before = await findSchedule(records, ids);
  if (before === undefined) return { hasChanged: false, left: [] };
  const schedule = await withEnd(records, before);
  const at = now();
  const due = dueRun(schedule, at);
  if (due !== undefined) {
    const following = rescheduled(schedule, new Date(Math.max(at.getTime(), Date.parse(due.due_at))));
    if (schedule.running === null) return beginRun(context, before, { ...following, waiting: null }, due);
    return store(context, before, afterOverlap(following, due, at));
  }
  const { waiting } = schedule;
  if (schedule.status === 'ACTIVE' && waiting !== null && schedule.running === null)
    return beginRun(
      context,
      before,
      { ...schedule, waiting: null },
      { due_at: waiting, missed: 0, reason: null },
    );
  return schedule === before
    ? { hasChanged: false, next_at: schedule.next_at, left: [] }
    : store(context, before, schedule);
}

function afterOverlap(schedule: Schedule, due: DueRun, now: Date): Schedule {
  const reason = `The run before, ${schedule.running}, had not ended.`;
  if (schedule.overlap === 'skip') return withRun(schedule, { ...due, result: 'skipped', reason }, now);
  if (schedule.waiting !== null)
    return withRun(
      schedule,
      { ...due, result: 'skipped', reason: `${reason} Another run waits for its end already.` },
      now,
    );
  return withRun({ ...schedule, waiting: due.due_at }, { ...due, result: 'waiting', reason }, now);
}

/** Begin the run that is due. If that is refused, note why. */
async function beginRun(
  context: ScheduleContext,
  before: Schedule,
  next: Schedule,
  due: DueRun,
): Promise<Step> {
  const { records, now } = context;
  const skip = (reason: string) =>
    store(context, before, withRun(next, { ...due, result: 'skipped', reason }, now()));
  const project = (await findProjects(records, [next.project_id])).items[0];
  if (project === undefined || project.deleted_at !== undefined) return skip('Its project is deleted.');
  const missing = await missingRight(context, next, project, now());
  if (missing !== undefined) return store(context, before, paused(next, missing));
  const begun = { ...context, project, caller: next, idempotencyWrites: () => [] };
  try {
    const { admitted, left } = await recordRun(begun, before, next, due);
    return { begun: admitted, hasChanged: true, left };
  } catch (error) {
    if (!(error instanceof ServiceError) || error.kind === 'unavailable') throw error;
    // A budget has no room, or the line of the user is full: another time may be better.
    if (error.kind === 'conflict') return skip(error.message);
    const failed = { ...next, failures: next.failures + 1 };
    const reason = `It could not begin: ${error.message}`;
    const noted = withRun(failed, { ...due, result: 'failed', reason }, now());
    return store(context, before, afterFailures(noted, reason));
  }
}

/**
 * Record the experiment of a run in the transaction that replaces the schedule.
 * @param due undefined if a person begins it
 * @throws ServiceError if the experiment is refused
 * @throws ConditionFailedError with {@link changedSchedule} if the schedule has changed since the read
 */
export async function recordRun(
  context: Omit<BeginContext, 'caller'> & Pick<ScheduleContext, 'timers'> & { caller: Payer },
  before: Schedule,
  next: Schedule,
  due: DueRun | undefined,
): Promise<{ admitted: Admitted<Experiment>; left: readonly ScheduleTime[] }> {
  const { now, caller } = context;
  const { budget, rules, name } = before;
  const inputs = await currentInputs(context, before);
  const at = now();
  const { writes: rows, left } = timeWrites(context, before, next, at);
  const { reason = null, ...time } = due ?? { due_at: null, missed: 0 };
  const dearer = hasLostSpot(before.inputs, inputs) ? reasons.nowOnDemand : null;
  const said = [reason, dearer].filter((text) => text !== null).join(' ') || null;
  const run = { ...time, reason: said, result: 'running' as const };
  const admitted = await recordExperiment(
    { ...inputs, budget: budget ?? undefined, rules },
    { ...context, caller: { user_id: caller.user_id, ...originOf(caller) } },
    {
      place: { schedule_id: before.schedule_id },
      name: `${name} #${before.starts + 1}`,
      unchanged: changedSchedule,
      writes: (experiment_id) => [
        replaceSchedule(before, withRun(withBegun(next, experiment_id), { ...run, experiment_id }, at), at),
        ...rows,
      ],
    },
  );
  return { admitted, left };
}

/** Whether a run is on demand that was to be on Spot first: a deployment may lose its Spot, or the schedule comes from another. */
const hasLostSpot = (meant: Schedule['inputs'], { capacity }: TrainingInputs): boolean =>
  meant.capacity === 'spot-then-on-demand' && capacity === 'on-demand';

/** Who pays for a run: the user as whom the schedule runs, or the person who begins it. */
type Payer = Pick<Schedule, 'user_id'> & TokenOrigin;

/**
 * Return the inputs of the next experiment: those of the schedule, with the current version of its data set, and a size within
 * the limits that the deployment has now. The schedule may have been made under others, or in another deployment.
 * @throws ServiceError `bad-request` for a size that this deployment does not have
 */
async function currentInputs(
  { records, settings }: Pick<BeginContext, 'records' | 'settings'>,
  schedule: Schedule,
): Promise<TrainingInputs> {
  const { inputs, project_id } = schedule;
  const { kind, nodes, gpus, capacity: usual } = inputs;
  const timeout = Math.min(inputs.timeout, settings.limits.jobSeconds);
  const complete = () => (nodes > 1 || gpus > 0 ? nodeSize(inputs, settings) : fargateSize(inputs));
  const demand = { kind, timeout, nodes, gpus, capacity: undefined, usual };
  const size = allowedSize(complete, demand, settings);
  const [content, dataset] = await Promise.all([
    readScheduleConfig(records, schedule),
    inputs.dataset === null ? undefined : findDataset(records, project_id, inputs.dataset),
  ]);
  if (inputs.dataset !== null && dataset === undefined)
    throw new ServiceError('not-found', `There is no data set ${inputs.dataset} any more.`);
  return {
    ...inputs,
    ...size,
    timeout,
    ...datasetFields(dataset),
    content,
    rerun_of: null,
    overrides: null,
    continues_from: null,
    git: null,
  };
}

async function store(context: ScheduleContext, before: Schedule, next: Schedule): Promise<Step> {
  const { writes, left } = await changeWrites(context, before, next);
  await context.records.write(...writes);
  return { hasChanged: true, left };
}

/**
 * Build the writes that replace a schedule, with the row of its next time, and tell hooks that the service paused it.
 * @returns also the rows to remove once its timer is set
 */
export async function changeWrites(
  { records, timers, now }: Pick<ScheduleContext, 'records' | 'timers' | 'now'>,
  before: Schedule,
  next: Schedule,
  isByPerson = false,
): Promise<{ writes: Write[]; left: readonly ScheduleTime[] }> {
  const at = now();
  const { writes, left } = timeWrites({ timers }, before, next, at);
  const { project_id, schedule_id, name, status_reason: reason } = next;
  const isTold = !isByPerson && before.status === 'ACTIVE' && next.status === 'PAUSED';
  const told = isTold
    ? await noticeWrites(
        records,
        { type: 'schedule.paused', project_id, subject: schedule_id, facts: { schedule_id, name, reason } },
        at,
      )
    : [];
  return { writes: [replaceSchedule(before, next, at), ...writes, ...told], left };
}

/**
 * Build the writes of the rows of times, if the next time changes. Where timers are set, a row asks for the timer until it is
 * set; otherwise the row is the timer.
 */
export function timeWrites(
  { timers }: Pick<ScheduleContext, 'timers'>,
  before: Pick<Schedule, 'next_at'> | undefined,
  { project_id, schedule_id, next_at }: Schedule,
  now: Date,
): { writes: Write[]; left: readonly ScheduleTime[] } {
  const earlier = before?.next_at ?? null;
  if (earlier === next_at) return { writes: [], left: [] };
  const row = (at: string) => ({ at, time_id: schedule_id, project_id, schedule_id });
  if (timers === undefined) {
    const writes = [
      ...(earlier === null ? [] : [removeTime(row(earlier))]),
      ...(next_at === null ? [] : [putTime(row(next_at))]),
    ];
    return { writes, left: [] };
  }
  if (next_at === null) return { writes: [], left: [] };
  const asking = row(now.toISOString());
  return { writes: [putTime(asking)], left: [asking] };
}

/** Set the timer of the next time of a schedule. Timers of times that are no longer its next one find nothing to do. */
async function setTimer(
  { timers }: Pick<ScheduleContext, 'timers'>,
  { project_id, schedule_id }: ScheduleIds,
  next_at: string | null,
): Promise<void> {
  if (next_at !== null) await timers?.set(schedule_id, next_at, { project_id, schedule_id });
}

/** Set the timer in a request that has changed a schedule. Never throw: the row that asks for it stays, and a pass does it. */
export async function setTimerInRequest(
  context: Pick<ScheduleContext, 'timers' | 'records' | 'log'>,
  schedule: Schedule,
  left: readonly ScheduleTime[],
): Promise<void> {
  try {
    await setTimer(context, schedule, schedule.next_at);
    if (left.length > 0) await context.records.write(...left.map(removeTime));
  } catch (error) {
    context.log.warn('schedule-later', { schedule_id: schedule.schedule_id, error: errorName(error) });
  }
}
