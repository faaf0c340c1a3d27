import { isoTime } from '../core/formats.ts';
import { type Experiment, findExperiment } from '../data/experiments/experiment.ts';
import { isFinal } from '../data/jobs/job-status.ts';
import type { Schedule, ScheduledRun } from '../data/schedules/schedule.ts';
import type { TableReader } from '../data/table/table.ts';
import { nextFire } from './cron.ts';

/** Return a schedule after its running experiment, if that has ended. After three failures in a row it is paused. */
export async function withEnd(records: TableReader<'records'>, schedule: Schedule): Promise<Schedule> {
  const { running, project_id, failures } = schedule;
  if (running === null) return schedule;
  const experiment = await findExperiment(records, project_id, running);
  if (experiment !== undefined && !isFinal(experiment.status)) return schedule;
  const { result, reason } = outcomeOf(experiment);
  const recent = schedule.recent.map((run) =>
    run.experiment_id === running && run.result === 'running'
      ? { ...run, result, reason: [run.reason, reason].filter((text) => text !== null).join(' ') || null }
      : run,
  );
  const inARow = result === 'failed' ? failures + 1 : result === 'succeeded' ? 0 : failures;
  return afterFailures({ ...schedule, running: null, recent, failures: inARow }, reason);
}

function outcomeOf(experiment: Experiment | undefined): Pick<ScheduledRun, 'result' | 'reason'> {
  if (experiment === undefined) return { result: 'cancelled', reason: 'Its experiment was deleted.' };
  const reason = experiment.status_reason?.slice(0, longestReason) ?? null;
  const { status } = experiment;
  const result = status === 'SUCCEEDED' ? 'succeeded' : status === 'FAILED' ? 'failed' : 'cancelled';
  return { result, reason };
}

/** Pause a schedule whose last runs failed. */
export function afterFailures(schedule: Schedule, reason: string | null): Schedule {
  if (schedule.failures < maxFailures || schedule.status !== 'ACTIVE') return schedule;
  const last = reason === null ? '' : ` The last one: ${reason}`;
  return paused(schedule, `Its last ${maxFailures} runs failed.${last}`);
}

/** Failures in a row after which a schedule is paused. */
const maxFailures = 3;

export const paused = (schedule: Schedule, reason: string): Schedule => ({
  ...schedule,
  status: 'PAUSED',
  status_reason: reason.slice(0, longestReason),
  next_at: null,
  waiting: null,
});

/** Return an active schedule with its next time after another; paused if none is left. */
export function rescheduled(schedule: Schedule, after: Date): Schedule {
  const next = nextFire(schedule, after);
  if (next === undefined) return paused(schedule, 'It never fires again.');
  return { ...schedule, status: 'ACTIVE', status_reason: null, next_at: next.toISOString() };
}

/** A time at which a schedule is due. */
export interface DueRun {
  due_at: string;
  missed: number;
  /** What people learn about a late run. */
  reason: string | null;
}

/** Return the time at which an active schedule is due. Times that passed before that are missed: one run stands for all. */
export function dueRun(schedule: Schedule, now: Date): DueRun | undefined {
  const { status, next_at: due_at } = schedule;
  if (status !== 'ACTIVE' || due_at === null || Date.parse(due_at) > now.getTime() + earlyMilliseconds)
    return undefined;
  let missed = 0;
  let time = nextFire(schedule, new Date(due_at));
  while (time !== undefined && time <= now && missed < mostCounted) {
    missed += 1;
    time = nextFire(schedule, time);
  }
  const isLate = now.getTime() - Date.parse(due_at) > lateMilliseconds;
  return { due_at, missed, reason: isLate || missed > 0 ? lateText(due_at, missed) : null };
}

/** Clocks of two hosts may differ by that: a timer must not find that its time has not come. */
const earlyMilliseconds = 5_000;

/** Timers of AWS may be a minute late, and try again. */
const lateMilliseconds = 5 * 60_000;
const mostCounted = 1000;

function lateText(due_at: string, missed: number): string {
  const more = missed === mostCounted ? `${missed} or more` : String(missed);
  const times =
    missed === 0
      ? ''
      : ` ${more} more ${missed === 1 ? 'time' : 'times'} passed until then: one run stands for all.`;
  return `It was due at ${due_at}, when the service did not run.${times}`;
}

/** Note what came of a time. Only the latest are kept, and of one that waited what followed. */
export function withRun(
  schedule: Schedule,
  run: Pick<ScheduledRun, 'result' | 'due_at' | 'missed' | 'reason'> & { experiment_id?: string },
  now: Date,
): Schedule {
  const { result, due_at, missed, experiment_id = null } = run;
  const reason = run.reason?.slice(0, longestReason) ?? null;
  const noted = { due_at, at: isoTime(now.getTime()), missed, result, experiment_id, reason };
  const recent = schedule.recent.filter(({ result: was }) => was !== 'waiting' || schedule.waiting !== null);
  return { ...schedule, recent: [noted, ...recent].slice(0, maxRecent) };
}

const maxRecent = 20;

/** Maximum characters of a reason. */
const longestReason = 500;

/** Return a schedule with the experiment that it has begun. */
export const withBegun = (schedule: Schedule, experiment_id: string): Schedule => ({
  ...schedule,
  running: experiment_id,
  starts: schedule.starts + 1,
});
