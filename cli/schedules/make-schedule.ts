import type { endpoint as createSchedule } from '../../functions/projects/schedules/create-schedule.endpoint.ts';
import type { AnswerOf } from '../../shared/client/route.ts';
import { shownCommand } from '../../shared/command/private-argument.ts';
import { usageFaults } from '../cli-error.ts';
import type { Session } from '../login/connect.ts';
import { ownConfigName } from '../run/choose-config.ts';
import type { Place, RunOptions } from '../run/plan-folder.ts';
import { prepareFolder } from '../run/prepare-folder.ts';
import { timeText } from './time-text.ts';

export type Schedule = AnswerOf<typeof createSchedule>;

/** When a schedule runs, and how. Undefined fields have the service's defaults. */
export interface ScheduleFields {
  cron: string;
  zone: string;
  overlap?: string | undefined;
  name?: string | undefined;
  budget?: number | undefined;
}

/**
 * Make a schedule of this folder: store its inputs as for a training.
 *
 * @param onSubmit called before the schedule is made. After this call, an interruption cannot prevent it
 * @throws CliError if the user must fix something first
 */
export async function makeSchedule(
  session: Session,
  fields: ScheduleFields,
  options: RunOptions,
  { onSubmit, ...place }: Place & { onSubmit(): void },
): Promise<Schedule> {
  const faults = await faultsOfFields(fields);
  const { project_id, config_id, command, sizes, rules, steps, withPinned } = await prepareFolder(
    session,
    options,
    place,
    () => ({ begins: 'schedule', faults, ...(faults.length === 0 && { budget: fields.budget }) }),
  );
  onSubmit();
  const { name = nameOf(config_id, command), ...when } = fields;
  // The service checks the words of the user.
  const body = { ...when, name, config: config_id, ...sizes, ...(rules.length > 0 && { rules }) } as never;
  const schedule = await withPinned((query) =>
    usageFaults(
      session.client.call<typeof createSchedule>('POST /projects/{project_id}/schedules', {
        path: { project_id },
        query,
        body,
      }),
    ),
  );
  const next = schedule.next_at === null ? '' : `, next at ${timeText(schedule.next_at, schedule.zone)}`;
  steps.done('scheduled', `${schedule.schedule_id}: ${shownCommand(command)}${next}`);
  return schedule;
}

/** Return the faults of the fields of a schedule by the service's own rules. */
async function faultsOfFields(fields: ScheduleFields): Promise<string[]> {
  // Loaded on demand: other commands do not need cron.
  const { ScheduleFields } = await import('../../shared/schedules/schedule-fields.ts');
  return (ScheduleFields.safeParse(fields).error?.issues ?? []).map(
    ({ path, message }) => `${path.join('.')} ${message}`,
  );
}

/** Return the name of the configuration without its ending, or that of the program. */
function nameOf(config_id: string, command: string): string {
  const program = /([\w-]+)\.(?:py|js|ts|sh|R|jl)\b/.exec(command)?.[1];
  return (config_id === ownConfigName ? program : config_id.replace(/\.[^.]+$/, '')) ?? 'schedule';
}
