import { basename } from 'node:path';
import { buildRouteMap } from '@stricli/core';
import type { endpoint as deleteSchedule } from '../../../functions/projects/schedules/delete-schedule.endpoint.ts';
import type { endpoint as pauseSchedule } from '../../../functions/projects/schedules/pause-schedule.endpoint.ts';
import type { endpoint as resumeSchedule } from '../../../functions/projects/schedules/resume-schedule.endpoint.ts';
import type { endpoint as runSchedule } from '../../../functions/projects/schedules/run-schedule.endpoint.ts';
import type { Client } from '../../../shared/client/client.ts';
import { parseCommand } from '../../../shared/command/parse-command.ts';
import type { CliContext } from '../../context.ts';
import { showToEnd } from '../../experiments/follow-experiment.ts';
import { connect } from '../../login/connect.ts';
import { untilSubmitted } from '../../run/until-submitted.ts';
import { namedSchedule, schedulesOf } from '../../schedules/find-schedule.ts';
import { makeSchedule, type Schedule } from '../../schedules/make-schedule.ts';
import { timeText } from '../../schedules/time-text.ts';
import { command } from '../command.ts';
import {
  detach,
  json,
  overrides,
  project,
  root,
  runBudget,
  sizes,
  text,
  uploadYes,
  verbose,
} from '../flags.ts';
import { optionsText } from '../options-text.ts';
import { changeCommand, scheduleName, showNext } from './change.ts';

/** Flags that make a schedule. The help of all of `mps schedule` lists them, too. */
const makeFlags = {
  zone: text('ZONE', 'Time zone, such as Europe/Berlin (default: that of this machine)'),
  overlap: text('HOW', 'If the run before has not ended: skip, or queue one run (default: skip)'),
  name: text('NAME', 'Name of the schedule (default: that of the configuration or the program)'),
  budget: { ...runBudget, brief: 'US$ that each run may cost; then it saves its checkpoints and ends' },
  config: text('FILE', 'Configuration to train with (default: train.* or config.*)'),
  command: text('COMMAND', 'Command to run; also the words after --'),
  set: overrides,
  project,
  root,
  ...sizes,
  yes: uploadYes,
  json,
  verbose,
} as const;

const makeCommand = command({
  brief: 'Train this folder again and again by the clock',
  help: `Uploads the folder as "mps run" does, and keeps it: later changes of the folder change nothing, but each run gets the current version of its data set. A time that the machine slept through is made up for once. After three failures in a row it pauses, and the hooks of the project are told.

Examples:
  mps schedule "0 3 * * 1-5" --zone Europe/Berlin -- python retrain.py
  mps schedule "*/30 * * * *" --overlap queue --budget 0.5
  mps schedule ls`,
  args: [
    {
      brief: 'Minute, hour, day of month, month, day of week, as one word: "0 3 * * 1-5"',
      placeholder: 'CRON',
      parse: String,
    },
  ],
  flags: makeFlags,
  aliases: { c: 'config', S: 'set', p: 'project', y: 'yes' },
  async run(flags, cron) {
    const { zone = ownZone(), overlap, name: title, budget, command, set = [], yes = false, ...rest } = flags;
    const { json: isJson, verbose: _, ...run } = rest;
    const words = command === undefined ? [] : parseCommand(command);
    const session = await connect(this.env);
    const { folder, printer } = this;
    const name = basename(folder) || 'project';
    const schedule = await untilSubmitted(
      (signal, onSubmit) =>
        makeSchedule(
          session,
          { cron, zone, overlap, name: title, budget },
          { ...run, overrides: set, words, yes },
          { folder, name, printer, signal, onSubmit },
        ),
      interruptions,
    );
    if (isJson) this.printer.json(schedule);
    else this.printer.line(schedule.schedule_id);
  },
});

const ownZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Messages after Ctrl-C. */
const interruptions = {
  before: 'Interrupted; no schedule was made.',
  unknown: 'Interrupted while the schedule was made. "mps schedule ls" shows whether it exists.',
  after: ({ schedule_id: id }: Schedule) =>
    `Interrupted; the schedule exists.\nTo delete it: mps schedule rm ${id}`,
};

function rowOf({
  schedule_id,
  name,
  cron,
  zone,
  next_at,
  status_reason,
  recent,
  command,
}: Schedule): string[] {
  const [last] = recent;
  return [
    schedule_id,
    name,
    cron,
    next_at === null ? `paused: ${status_reason}` : timeText(next_at, zone),
    last === undefined ? '' : `${last.result}${last.reason === null ? '' : `: ${last.reason}`}`,
    command,
  ];
}

const lsCommand = command({
  brief: 'List the schedules of a project, with their next times and last results',
  help: '--json prints one line per schedule.\n\nExample:\n  mps schedule ls',
  flags: { project, json },
  async run({ project: named, json: isJson }) {
    const { schedules } = await schedulesOf(this, named);
    const headings = ['SCHEDULE', 'NAME', 'CRON', 'NEXT', 'LAST', 'COMMAND'];
    await this.printer.list(schedules, isJson, headings, rowOf);
  },
});

const at = 'POST /projects/{project_id}/schedules/{schedule_id}';

/** Build a command that pauses or resumes a schedule. */
const actionCommand = (
  change: (client: Client, path: { project_id: string; schedule_id: string }) => Promise<Schedule>,
  { brief, example }: { brief: string; example: string },
) =>
  command({
    brief,
    help: `Example:\n  ${example}`,
    args: [scheduleName],
    flags: { project, json },
    async run({ project: named, json: isJson }, name) {
      const { session, path } = await namedSchedule(this, named, name);
      showNext(this, { json: isJson ?? false }, await change(session.client, path));
    },
  });

const runCommand = command({
  brief: 'Begin a run of a schedule now and follow it',
  help: 'Its next time stays as it is.\n\nExample:\n  mps schedule run nightly',
  args: [scheduleName],
  flags: { detach, project, json },
  aliases: { p: 'project', d: 'detach' },
  async run({ project: named, json: isJson, detach: isDetached }, name) {
    const { session, path } = await namedSchedule(this, named, name);
    const begun = await session.client.call<typeof runSchedule>(`${at}/run`, { path });
    await showToEnd(this, session.client, begun, { detach: isDetached, json: isJson });
  },
});

const rmCommand = command({
  brief: 'Delete a schedule',
  help: 'Example:\n  mps schedule rm nightly',
  args: [scheduleName],
  flags: { project, json },
  async run({ project: named, json: isJson }, name) {
    const { session, path } = await namedSchedule(this, named, name);
    const route = 'DELETE /projects/{project_id}/schedules/{schedule_id}';
    const deleted = await session.client.call<typeof deleteSchedule>(route, { path });
    if (isJson) this.printer.json(deleted);
    else this.printer.say(`Deleted ${path.schedule_id}. Its experiments stay.`);
  },
});

/** `mps schedule`: with an expression it makes one. */
export const scheduleRoutes = buildRouteMap<string, CliContext>({
  routes: {
    make: makeCommand,
    ls: lsCommand,
    change: changeCommand,
    pause: actionCommand((client, path) => client.call<typeof pauseSchedule>(`${at}/pause`, { path }), {
      brief: 'Pause a schedule; what runs goes on',
      example: 'mps schedule pause nightly',
    }),
    resume: actionCommand((client, path) => client.call<typeof resumeSchedule>(`${at}/resume`, { path }), {
      brief: 'Resume a paused schedule, as yourself',
      example: 'mps schedule resume nightly',
    }),
    run: runCommand,
    rm: rmCommand,
  },
  defaultCommand: 'make',
  docs: {
    brief: 'Train again and again by the clock',
    fullDescription: `Trains this folder again and again by the clock. "mps schedule CRON" makes a schedule, as "mps schedule make" does.

Examples:
  mps schedule "0 3 * * 1-5" --zone Europe/Berlin -- python retrain.py
  mps schedule ls
  mps schedule change retrain --cron "30 4 * * *"
  mps schedule pause retrain

OPTIONS OF A NEW SCHEDULE
${optionsText(makeFlags)}`,
  },
});
