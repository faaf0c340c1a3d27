import * as z from 'zod';
import { setTimers } from '../../../shared/aws/needs.ts';
import { badRequest } from '../../../shared/core/service-error.ts';
import { environmentFields } from '../../../shared/data/projects/environment-rules.ts';
import {
  readScheduleConfig,
  requireSchedule,
  type Schedule,
} from '../../../shared/data/schedules/schedule.ts';
import { writeRecords } from '../../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { fields } from '../../../shared/http/definition/endpoint-input.ts';
import { requirePrecondition } from '../../../shared/http/definition/precondition.ts';
import { requireBudget } from '../../../shared/jobs/budget.ts';
import { costEstimate } from '../../../shared/jobs/cost.ts';
import { commandFaults } from '../../../shared/runner/training/environment-faults.ts';
import { ScheduleSpec } from '../../../shared/schedules/schedule-spec.ts';
import { rescheduled } from '../../../shared/schedules/schedule-state.ts';
import { ScheduleAnswer } from '../../../shared/schedules/show-schedule.ts';
import {
  changeSchedule,
  pausedBy,
  requireRunnable,
  resumedBy,
  runsAgainAs,
  schedulePath,
} from './schedule.ts';

const { name, cron, zone, overlap, budget } = ScheduleSpec.shape;

const Change = z
  .strictObject({
    name: name.describe('Name for people.'),
    cron: cron.optional(),
    zone: zone.unwrap().optional().describe('Time zone of the fields, by its IANA name.'),
    overlap: overlap.unwrap().optional().describe('If the run before has not ended.'),
    budget: budget.unwrap().nullable().optional().describe('US$ that each run may cost. Null removes it.'),
    command: environmentFields.entry_point_command
      .superRefine((text, context) => {
        for (const message of commandFaults(text)) context.addIssue({ code: 'custom', message });
      })
      .optional()
      .describe('Command of the next runs, in the environment of the schedule.'),
    paused: z
      .boolean('must be true or false')
      .optional()
      .describe('Pauses it, or lets it run again, as the operations `pause` and `resume` do.'),
  })
  .meta({ minProperties: 1 });

export const endpoint = defineEndpoint({
  name: 'updateSchedule',
  method: 'PATCH',
  path: '/projects/{project_id}/schedules/{schedule_id}',
  summary: 'Change when and how a schedule runs',
  description:
    'Changes the given fields and no others; a paused schedule stays paused without `paused`. From then on it runs as the caller, by the scope and budget of the token of this request. For another source, configuration or size, make another schedule.',
  allow: 'developer',
  project: 'developer',
  right: 'run',
  audit: { fields: ['name', 'cron', 'zone', 'overlap', 'budget', 'command', 'paused'] },
  needs: { records: writeRecords, timers: setTimers },
  input: { path: schedulePath, body: fields(Change) },
  output: { 200: ScheduleAnswer },
  problems: ['conflict', 'precondition-failed', 'too-large', 'unsupported-media-type'],
  etag: true,

  async handle({ path, body: { command, paused: isPaused, ...body } }, context) {
    const { records, caller, now, settings } = context;
    const fieldsSet = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined));
    if (Object.keys(fieldsSet).length === 0 && command === undefined && isPaused === undefined) {
      const message = `must have at least one of ${Object.keys(Change.shape).join(', ')}`;
      throw badRequest([{ in: 'body', name: 'body', message }]);
    }
    if (command !== undefined) {
      const schedule = await requireSchedule(records, path);
      const content = await readScheduleConfig(records, schedule);
      await requireRunnable({ ...withCommand(schedule.inputs, command), content }, 'command');
    }
    return changeSchedule(context, path, (schedule) => {
      requirePrecondition(context, schedule.version);
      context.noteAudit({
        before: { ...schedule, command: schedule.inputs.environment.entry_point_command },
      });
      const { inputs, next_at } = schedule;
      const { gpus, nodes, timeout } = inputs;
      const cost_estimate = costEstimate(settings.prices, { ...inputs, isOnNodes: nodes > 1 || gpus > 0 });
      requireBudget(body.budget ?? null, { cost_estimate, timeout }, 'body', 'budget');
      const changed: Schedule = {
        ...runsAgainAs(schedule, caller),
        ...fieldsSet,
        inputs: command === undefined ? inputs : withCommand(inputs, command),
      };
      if (isPaused === true) return pausedBy(changed, caller);
      if (isPaused === false && schedule.status === 'PAUSED') return resumedBy(changed, caller, now());
      // A time that has come takes place once, with the fields of the change; the times after it are the new ones.
      const isMoved = changed.cron !== schedule.cron || changed.zone !== schedule.zone;
      const isAhead = next_at !== null && Date.parse(next_at) > now().getTime();
      return isMoved && isAhead ? rescheduled(changed, now()) : changed;
    });
  },
});

type Inputs = Schedule['inputs'];

const withCommand = (inputs: Inputs, entry_point_command: string): Inputs => ({
  ...inputs,
  environment: { ...inputs.environment, entry_point_command },
});
