import * as z from 'zod';
import { Timestamp, Ulid } from '../../core/formats.ts';
import { notFound, ServiceError } from '../../core/service-error.ts';
import { RunRule } from '../../run-rules/run-rule.ts';
import { tokenOrigin } from '../accounts/ci-run.ts';
import { KeptInputs } from '../jobs/kept-inputs.ts';
import { countUpTo, readCounters } from '../projects/project.ts';
import { Bytes, recordType } from '../table/record.ts';
import { type Key, type Page, readPage, type TableReader, type Write } from '../table/table.ts';
import { WriteLabel } from '../table/write-label.ts';
import { Overlap } from './overlap.ts';

const schedule = recordType('schedule', () =>
  z.object({
    schedule_id: Ulid,
    project_id: Ulid,
    /** User as whom it runs: the one who made it, or resumed or changed it last. */
    user_id: Ulid,
    username: z.string(),
    ...tokenOrigin(),
    /** Token with a scope or a budget by which this user made or resumed it. It runs no longer than that token is valid. */
    token_id: Ulid.optional(),
    name: z.string(),
    /** Five fields: minute, hour, day of month, month, day of week. */
    cron: z.string(),
    /** Time zone of the fields, by its IANA name. */
    zone: z.string(),
    overlap: Overlap,
    /** US dollars of each run. Null without a limit of its own. */
    budget: z.number().nullable(),
    rules: z.array(RunRule).optional(),
    /** Inputs of all its experiments, which never change, but for the data set: each has the current version. */
    inputs: KeptInputs,
    status: ScheduleStatus,
    status_reason: z.string().nullable(),
    /** Time of the next run. Null while it is paused. */
    next_at: Timestamp.nullable(),
    /** Time at which a run was due that waits for the end of the run before. Null if none waits. */
    waiting: Timestamp.nullable(),
    /** Experiment that has not ended. Null if none runs. */
    running: Ulid.nullable(),
    /** Runs in a row that failed. */
    failures: z.number().int(),
    /** Experiments that it has begun. */
    starts: z.number().int(),
    /** The latest times that it was due, and what came of them; newest first. */
    recent: z.array(ScheduledRun),
    created_at: Timestamp,
    updated_at: Timestamp,
    version: z.number().int(),
  }),
);
/**
 * A training that repeats by the clock. Whatever fires it, or sees one of its experiments end, reads this record and replaces
 * it on condition of its version, in the transaction that records the experiment. So a time fires once, however often the
 * event comes.
 */
export type Schedule = z.infer<typeof schedule.schema>;

/** State of an active schedule that has not run, and has no time of its next run yet. */
export const neverRun = () =>
  ({
    status: 'ACTIVE',
    status_reason: null,
    next_at: null,
    waiting: null,
    running: null,
    failures: 0,
    starts: 0,
    recent: [],
  }) satisfies Partial<Schedule>;

export const ScheduleStatus = z.enum(['ACTIVE', 'PAUSED']);

/** One time that a schedule was due. */
export const ScheduledRun = z.object({
  /** Null for a run that a person began. */
  due_at: Timestamp.nullable(),
  at: Timestamp,
  /** Earlier times that passed while the service did not run. This run stands for them. */
  missed: z.number().int(),
  result: z.enum(['running', 'waiting', 'skipped', 'succeeded', 'failed', 'cancelled']),
  experiment_id: Ulid.nullable(),
  reason: z.string().nullable(),
});
export type ScheduledRun = z.infer<typeof ScheduledRun>;

/** Maximum number of schedules of a project. */
export const maxSchedules = 100;
/** Label of the write that counts schedules. */
export const scheduleCount = new WriteLabel('schedules');

/** The 409 for a project without room for another schedule. */
export const tooManySchedules = (cause?: unknown): ServiceError =>
  new ServiceError(
    'conflict',
    `The project has the maximum of ${maxSchedules} schedules. Delete one first.`,
    { cause },
  );

/** @throws ServiceError `conflict` if the project has no room for another schedule */
export async function requireScheduleRoom(
  records: TableReader<'records'>,
  project_id: string,
): Promise<void> {
  const { schedules = 0 } = await readCounters(records, project_id);
  if (schedules >= maxSchedules) throw tooManySchedules();
}

const countSchedules = (project_id: string, change: 1 | -1): Write =>
  scheduleCount.on(countUpTo(maxSchedules, project_id, 'schedules', change));

export const schedulesPartition = (project_id: string): string => `SCHEDULES#${project_id}`;

export interface ScheduleIds {
  project_id: string;
  schedule_id: string;
}

const scheduleKey = ({ project_id, schedule_id }: ScheduleIds): Key => ({
  pk: schedulesPartition(project_id),
  sk: schedule_id,
});

export const findSchedule = (
  records: TableReader<'records'>,
  ids: ScheduleIds,
): Promise<Schedule | undefined> => schedule.find(records, scheduleKey(ids));

/** Return those of these schedules that exist. At most 100. */
export async function findSchedules(
  records: TableReader<'records'>,
  ids: readonly ScheduleIds[],
): Promise<Page<Schedule>> {
  const items = await records.batchGet(ids.map(scheduleKey));
  const found = items.filter((item) => item !== undefined);
  return readPage({ items: found, next: undefined }, schedule.parse);
}

/** @throws ServiceError `not-found` */
export async function requireSchedule(records: TableReader<'records'>, ids: ScheduleIds): Promise<Schedule> {
  const schedule = await findSchedule(records, ids);
  if (schedule === undefined) throw notFound('schedule', ids.schedule_id);
  return schedule;
}

/** Return a page of the schedules of a project, newest first. */
export async function listSchedules(
  records: TableReader<'records'>,
  project_id: string,
  page: { limit: number; after: string | undefined },
): Promise<Page<Schedule>> {
  return readPage(
    await records.query({ pk: schedulesPartition(project_id), descending: true, ...page }),
    schedule.parse,
  );
}

/** Build the writes that store a new schedule. That with {@link scheduleCount} fails if the project has no room. */
export const putSchedule = (value: Schedule): Write[] => [
  { put: schedule.item(scheduleKey(value), value), if: { exists: false } },
  countSchedules(value.project_id, 1),
];

/** Label of writes that fail if a schedule has changed since it was read. */
export const changedSchedule = new WriteLabel('schedule');

/** Build the write that replaces a schedule. It fails if the schedule has changed since the read. */
export const replaceSchedule = ({ version }: Schedule, next: Schedule, now: Date): Write =>
  changedSchedule.on({
    put: schedule.item(scheduleKey(next), {
      ...next,
      updated_at: now.toISOString(),
      version: version + 1,
    }),
    if: { equals: { version } },
  });

/** Build the writes that remove a schedule and its configuration. They fail if it has changed since the read. */
export const removeSchedule = (value: Schedule): Write[] => [
  changedSchedule.on({ delete: scheduleKey(value), if: { equals: { version: value.version } } }),
  { delete: configKey(value) },
  countSchedules(value.project_id, -1),
];

const config = recordType('schedule-config', () => z.object({ content: Bytes }));

export const scheduleConfigsPartition = (project_id: string): string => `SCHEDULE_CONFIGS#${project_id}`;
const configKey = ({ project_id, schedule_id }: ScheduleIds): Key => ({
  pk: scheduleConfigsPartition(project_id),
  sk: schedule_id,
});

/** Build the write that keeps the configuration that all experiments of a schedule are made of. */
export const putScheduleConfig = (ids: ScheduleIds, content: Uint8Array): Write => ({
  put: config.item(configKey(ids), { content }),
});

/** @throws ServiceError `not-found` if the schedule was deleted since it was read */
export async function readScheduleConfig(
  records: TableReader<'records'>,
  ids: ScheduleIds,
): Promise<Uint8Array> {
  const item = await records.get(configKey(ids));
  if (item === undefined) throw notFound('schedule', ids.schedule_id);
  return config.parse(item).content;
}
