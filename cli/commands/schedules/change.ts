import type { endpoint as updateSchedule } from '../../../functions/projects/schedules/update-schedule.endpoint.ts';
import type { AnswerOf, RequestOf } from '../../../shared/client/route.ts';
import { CliError, exitCodes, usageFaults } from '../../cli-error.ts';
import type { CliContext } from '../../context.ts';
import { namedSchedule } from '../../schedules/find-schedule.ts';
import { timeText } from '../../schedules/time-text.ts';
import { command } from '../command.ts';
import { flagsSet, json, type ProjectFlags, parsed, project, text } from '../flags.ts';
import { dollars } from '../project/budget.ts';

/** A schedule in the answers of all operations on it. */
export type ChangedSchedule = AnswerOf<typeof updateSchedule>;

/** Schedule that a command is about. */
export const scheduleName = {
  brief: 'Name or ID of the schedule, or the end of its ID',
  placeholder: 'SCHEDULE',
  parse: String,
} as const;

/** Print what a schedule does next. */
export function showNext({ printer }: CliContext, { json: isJson }: ProjectFlags, schedule: ChangedSchedule) {
  const { next_at, zone, schedule_id } = schedule;
  if (isJson) printer.json(schedule);
  else if (next_at === null) printer.say(`${schedule_id} is paused.`);
  else printer.say(`${schedule_id} runs next at ${timeText(next_at, zone)}.`);
}

export const changeCommand = command({
  brief: 'Change when and how a schedule runs',
  help: `What is not named stays. From then on it runs as yourself. For another folder, configuration or size, make another schedule.

Examples:
  mps schedule change nightly --cron "30 4 * * *" --zone Europe/Berlin
  mps schedule change nightly --budget none --no-paused
  mps schedule change nightly -- python retrain.py --epochs 20`,
  args: [scheduleName],
  flags: {
    cron: text('CRON', 'Minute, hour, day of month, month, day of week, as one word: "0 3 * * 1-5"'),
    zone: text('ZONE', 'Time zone, such as Europe/Berlin'),
    overlap: text('HOW', 'If the run before has not ended: skip, or queue one run'),
    name: text('NAME', 'New name'),
    budget: parsed(dollars, 'US$', 'US$ that each run may cost, or none'),
    command: text('COMMAND', 'Command of the next runs; also the words after --'),
    paused: { kind: 'boolean', brief: 'Pause it; --no-paused lets it run again', optional: true },
    project,
    json,
  },
  async run({ budget, project: named, json: isJson = false, verbose: _, ...fields }, name) {
    // The service checks the words of the user.
    const body = { ...flagsSet(fields), ...(budget !== undefined && { budget: budget.amount }) } as Change;
    if (Object.keys(body).length === 0)
      throw new CliError(
        'Say what to change: --cron, --zone, --overlap, --name, --budget, --command, --paused or --no-paused.',
        exitCodes.usage,
      );
    const { session, path } = await namedSchedule(this, named, name);
    const route = 'PATCH /projects/{project_id}/schedules/{schedule_id}';
    const changed = await usageFaults(session.client.call<typeof updateSchedule>(route, { path, body }));
    showNext(this, { json: isJson }, changed);
  },
});

type Change = NonNullable<RequestOf<typeof updateSchedule>['body']>;
