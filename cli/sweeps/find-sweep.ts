import type { endpoint as listSweeps } from '../../functions/projects/sweeps/list-sweeps.endpoint.ts';
import type { RowOf } from '../../shared/client/route.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import type { CliContext } from '../context.ts';
import type { Session } from '../login/connect.ts';
import { projectSession } from '../projects/project-session.ts';

/**
 * Find the sweep of a command by its ID, the end of its ID, or as `latest`.
 * @throws CliError if there is none
 */
export async function namedSweep(
  context: CliContext,
  project: string | undefined,
  id: string = newest,
): Promise<{ session: Session; sweep: RowOf<typeof listSweeps>; path: SweepPath }> {
  if (id !== newest && !idPattern.test(id))
    throw new CliError(
      `"${id}" is not a sweep ID. Give its 26 characters, at least the last four of them, or ${newest}.`,
      exitCodes.usage,
    );
  const { path, ...session } = await projectSession(context, project);
  const found: RowOf<typeof listSweeps>[] = [];
  for await (const sweep of session.client.rows<typeof listSweeps>('GET /projects/{project_id}/sweeps', {
    path,
    query: { limit: id === newest ? 1 : 100 },
  })) {
    if (id === newest || sweep.sweep_id.endsWith(id)) found.push(sweep);
    if (id === newest || sweep.sweep_id === id) break;
  }
  const [sweep] = found;
  if (sweep === undefined)
    throw new CliError(
      id === newest
        ? 'The project has no sweep yet. "mps sweep --help" shows how to begin one.'
        : `There is no sweep ${id}. "mps sweep ls" lists those of a project.`,
    );
  if (found.length > 1) {
    const ids = found.map(({ sweep_id }) => `  ${sweep_id}`).join('\n');
    throw new CliError(`Several sweeps end in ${id}:\n${ids}`, exitCodes.usage);
  }
  return { session, sweep, path: { ...path, sweep_id: sweep.sweep_id } };
}

export interface SweepPath {
  project_id: string;
  sweep_id: string;
}

const newest = 'latest';
const idPattern = /^[0-9a-hjkmnp-tv-z]{4,26}$/;
