import * as z from 'zod';
import { Capacity } from '../core/capacity/capacity.ts';
import { FileId, Timestamp, Ulid } from '../core/formats.ts';
import { Overlap } from '../data/schedules/overlap.ts';
import { type Schedule, ScheduledRun, ScheduleStatus } from '../data/schedules/schedule.ts';
import { sizeBounds } from '../jobs/size.ts';

/** Schedule in the responses of all operations. */
export const ScheduleAnswer = z
  .object({
    schedule_id: Ulid,
    project_id: Ulid,
    name: z.string(),
    cron: z.string(),
    zone: z.string(),
    overlap: Overlap,
    status: ScheduleStatus,
    status_reason: z.string().nullable().describe('Why it is paused; null while it is active.'),
    next_at: Timestamp.nullable().describe('Time of the next run; null while it is paused.'),
    username: z.string().describe('User as whom it runs, with the rights that this user has then.'),
    config: FileId,
    config_version: z.number().int(),
    command: z.string(),
    source_sha256: z.string().nullable(),
    dataset: z.string().nullable().describe('Each run gets its current version.'),
    budget: z.number().nullable().describe('US$ of each run.'),
    vcpus: sizeBounds.vcpus,
    memory: z.number().int().describe('MiB.'),
    gpus: z.number().int(),
    nodes: z.number().int(),
    timeout: z.number().int().describe('Seconds.'),
    capacity: Capacity.nullable().describe(
      'Where its runs may run. Null for schedules of releases that did not record it.',
    ),
    running: Ulid.nullable().describe('Experiment that has not ended; null without one.'),
    failures: z.number().int().describe('Runs in a row that failed. After three it is paused.'),
    recent: z
      .array(
        ScheduledRun.extend({
          due_at: Timestamp.nullable().describe('Null for a run that a person began.'),
          missed: z
            .number()
            .int()
            .describe('Further times that passed while the service did not run; this one stands for them.'),
          reason: z.string().nullable().describe('Why it was skipped, late or failed.'),
        }),
      )
      .describe('The latest times that it was due, and what came of them; newest first.'),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: 'Schedule' });

/** Build the response for a schedule. */
export function showSchedule(schedule: Schedule): z.input<typeof ScheduleAnswer> {
  const { config_id: config, environment, ...inputs } = schedule.inputs;
  const { config_version, source_sha256, dataset, vcpus, memory, gpus, nodes, timeout } = inputs;
  const { capacity = null } = inputs;
  return {
    ...schedule,
    ...{ config, config_version, source_sha256, dataset, vcpus, memory, gpus, nodes, timeout, capacity },
    command: environment.entry_point_command,
  };
}
