import * as z from 'zod';
import { setTimers } from '../../../shared/aws/needs.ts';
import { notFound } from '../../../shared/core/service-error.ts';
import { projectExists } from '../../../shared/data/projects/project.ts';
import {
  activeList,
  countActive,
  maxActiveSchedules,
} from '../../../shared/data/schedules/active-schedules.ts';
import {
  maxSchedules,
  neverRun,
  putSchedule,
  putScheduleConfig,
  type Schedule,
  scheduleCount,
  tooManySchedules,
} from '../../../shared/data/schedules/schedule.ts';
import { writeRecords } from '../../../shared/data/table/needs.ts';
import { retryOnConflict } from '../../../shared/data/table/retry-on-conflict.ts';
import { ConditionFailedError } from '../../../shared/data/table/write-label.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { fields } from '../../../shared/http/definition/endpoint-input.ts';
import { projectPath } from '../../../shared/http/definition/parameters.ts';
import { requireBudget } from '../../../shared/jobs/budget.ts';
import { costEstimate } from '../../../shared/jobs/cost.ts';
import { setTimerInRequest, timeWrites } from '../../../shared/schedules/advance-schedule.ts';
import { ScheduleSpec } from '../../../shared/schedules/schedule-spec.ts';
import { rescheduled } from '../../../shared/schedules/schedule-state.ts';
import { ScheduleAnswer } from '../../../shared/schedules/show-schedule.ts';
import { expectedParameters } from '../training/expected-inputs.ts';
import { inputsOfBody } from '../training/inputs-of-body.ts';
import { answerSchedule, requireRunnable, runsAs } from './schedule.ts';

export const endpoint = defineEndpoint({
  name: 'createSchedule',
  method: 'POST',
  path: '/projects/{project_id}/schedules',
  summary: 'Make a schedule: a training that repeats by the clock',
  description: `Its runs have the source, configuration and environment that the project has now, and the data set of that time. It runs as the caller, with the rights that this user has then, and by the scope and budget of the token of this request. A local time that daylight saving time skips is moved to the end of the gap; one that comes twice counts once. Times that pass while the service does not run are made up for by one run. After three failures in a row it is paused, and hooks are told (\`schedule.paused\`). A project has at most ${maxSchedules} schedules, and at most ${maxActiveSchedules} active ones run as a user, in all projects.`,
  allow: 'developer',
  project: 'developer',
  right: 'run',
  audit: { fields: ['name', 'cron', 'zone', 'overlap', 'config', 'budget'] },
  needs: { records: writeRecords, timers: setTimers },
  input: { path: projectPath, query: z.strictObject(expectedParameters), body: fields(ScheduleSpec) },
  output: { 200: ScheduleAnswer },
  problems: ['conflict', 'too-large', 'unsupported-media-type'],
  etag: true,
  idempotent: {
    kind: 'creates',
    table: 'records',
    replayCreated: (schedule_id, { records, project: { project_id } }) =>
      answerSchedule(records, { project_id, schedule_id }),
  },

  async handle({ body: spec, query: expected }, context) {
    const { records, project, caller, settings, newId, now, idempotencyWrites } = context;
    const { project_id } = project;
    const runner = runsAs(caller);
    const { inputs, isOnNodes } = await inputsOfBody(spec, expected, context);
    const cost_estimate = costEstimate(settings.prices, { ...inputs, isOnNodes });
    const budget = spec.budget ?? null;
    requireBudget(budget, { cost_estimate, timeout: inputs.timeout }, 'body', 'budget');
    await requireRunnable(inputs, 'config');
    const { content, git: _, rerun_of: __, overrides: ___, continues_from: ____, ...kept } = inputs;
    const { name = 'schedule', cron, zone, overlap, rules } = spec;
    const schedule_id = newId();
    const at = now();
    const schedule: Schedule = rescheduled(
      {
        ...{ schedule_id, project_id, ...runner, name, cron, zone, overlap, budget, inputs: kept },
        ...(rules !== undefined && { rules }),
        ...neverRun(),
        created_at: at.toISOString(),
        updated_at: at.toISOString(),
        version: 1,
      },
      at,
    );
    const { writes: times, left } = timeWrites(context, undefined, schedule, at);
    const writes = [
      projectExists(project_id),
      ...putSchedule(schedule),
      putScheduleConfig(schedule, content),
      ...times,
      ...idempotencyWrites(schedule_id),
    ];
    const write = async () => records.write(...writes, await countActive(records, schedule));
    try {
      await retryOnConflict(write, { isConflict: (error) => activeList.failedIn(error) });
    } catch (error) {
      if (!(error instanceof ConditionFailedError)) throw error;
      if (!error.isOnly(scheduleCount)) throw notFound('project', project_id);
      throw tooManySchedules(error);
    }
    await setTimerInRequest(context, schedule, left);
    return answerSchedule(records, schedule);
  },
});
