import type { endpoint as listSchedules } from '../../functions/projects/schedules/list-schedules.endpoint.ts';
import type { RowOf } from '../../shared/client/route.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import type { CliContext } from '../context.ts';
import type { Session } from '../login/connect.ts';
import { projectSession } from '../projects/project-session.ts';

export type ScheduleRow = RowOf<typeof listSchedules>;

/** Return the schedules of a project, newest first. */
export async function schedulesOf(
  context: CliContext,
  project: string | undefined,
): Promise<{ session: Session; path: { project_id: string }; schedules: ScheduleRow[] }> {
  const { path, ...session } = await projectSession(context, project);
  const schedules: ScheduleRow[] = [];
  const route = 'GET /projects/{project_id}/schedules';
  for await (const row of session.client.rows<typeof listSchedules>(route, { path })) schedules.push(row);
  return { session, path, schedules };
}

/**
 * Find the schedule of a command by its name, its ID or the end of its ID.
 * @throws CliError if there is none, or more than one
 */
export async function namedSchedule(
  context: CliContext,
  project: string | undefined,
  name: string,
): Promise<{ session: Session; path: { project_id: string; schedule_id: string } }> {
  const { session, path, schedules } = await schedulesOf(context, project);
  const matching = schedules.filter(
    (row) => row.name === name || (name.length >= 4 && row.schedule_id.endsWith(name)),
  );
  const [schedule, ...others] = matching;
  if (schedule === undefined)
    throw new CliError(`There is no schedule ${name}. "mps schedule ls" lists those of a project.`);
  if (others.length > 0) {
    const ids = matching.map(({ schedule_id }) => `  ${schedule_id}`).join('\n');
    throw new CliError(`Several schedules are called ${name}. Give an ID:\n${ids}`, exitCodes.usage);
  }
  return { session, path: { ...path, schedule_id: schedule.schedule_id } };
}
