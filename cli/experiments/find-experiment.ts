import type { endpoint as readExperiment } from '../../functions/experiments/records/read-experiment.endpoint.ts';
import type { endpoint as listExperiments } from '../../functions/experiments/search/list-experiments.endpoint.ts';
import type { endpoint as listProjects } from '../../functions/projects/projects/list-projects.endpoint.ts';
import { ProblemError } from '../../shared/client/problem-error.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import type { CliContext } from '../context.ts';
import { connect, type Session } from '../login/connect.ts';
import { findProject, projectName, requireProject } from '../projects/find-project.ts';
import type { Experiment } from './experiment.ts';

/**
 * Find an experiment by its ID, by the end of an ID in the project, or as `latest`.
 *
 * @throws CliError if there is none
 */
export async function findExperiment(
  session: Session,
  folder: string,
  given: { project?: string | undefined; id: string },
): Promise<Experiment> {
  const { project, id } = given;
  let found: Experiment | undefined;
  if (idPattern.test(id)) {
    const likely = await findProject(session, project ?? (await projectName(folder)));
    found = await findAnywhere(session, id, likely?.project_id);
  } else if (id === newest || shortPattern.test(id)) {
    const { project_id } = await requireProject(session, folder, project);
    const row = await findShort(session, project_id, id);
    // Rows of a list leave out what the machine did.
    found = row && (await readIn(session, project_id, row.experiment_id));
  } else {
    throw new CliError(
      `"${id}" is not an experiment ID. Give its 26 characters, at least the last four of them, or ${newest}.`,
      exitCodes.usage,
    );
  }
  if (found !== undefined) return found;
  throw new CliError(
    id === newest
      ? 'The project has no experiment yet.'
      : `There is no experiment ${id}. "mps ls" lists those of a project.`,
  );
}

const idPattern = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/;

/** Concurrent requests while searching all projects for an experiment. */
const atOnce = 8;

/** Find an experiment by its full ID, first in the likely project, then in all others. */
async function findAnywhere(
  session: Session,
  id: string,
  likely: string | undefined,
): Promise<Experiment | undefined> {
  const found = likely === undefined ? undefined : await readIn(session, likely, id);
  if (found !== undefined) return found;
  let batch: string[] = [];
  const look = async () => {
    const all = await Promise.all(batch.map((project_id) => readIn(session, project_id, id)));
    batch = [];
    return all.find((one) => one !== undefined);
  };
  const projects = session.client.rows<typeof listProjects>('GET /projects/', { query: { limit: 1000 } });
  for await (const { project_id } of projects) {
    if (project_id !== likely) batch.push(project_id);
    const one = batch.length === atOnce ? await look() : undefined;
    if (one !== undefined) return one;
  }
  return look();
}

async function readIn(
  { client }: Session,
  project_id: string,
  experiment_id: string,
): Promise<Experiment | undefined> {
  const route = 'GET /projects/{project_id}/experiments/{experiment_id}';
  try {
    return await client.call<typeof readExperiment>(route, { path: { project_id, experiment_id } });
  } catch (error) {
    if (error instanceof ProblemError && error.status === 404) return undefined;
    throw error;
  }
}

const newest = 'latest';

/** Short form of an ID: its end, because IDs of the same hour begin alike. */
const shortPattern = /^[0-9a-hjkmnp-tv-z]{4,25}$/;

async function findShort(
  { client }: Session,
  project_id: string,
  ending: string,
): Promise<Experiment | undefined> {
  const found: Experiment[] = [];
  const query = { limit: ending === newest ? 1 : 100 };
  const rows = client.rows<typeof listExperiments>('GET /projects/{project_id}/experiments', {
    path: { project_id },
    query,
  });
  for await (const row of rows) {
    if (ending === newest) return row;
    if (row.experiment_id.endsWith(ending)) found.push(row);
  }
  if (found.length < 2) return found[0];
  const ids = found.map(({ experiment_id }) => `  ${experiment_id}`).join('\n');
  throw new CliError(`Several experiments end in ${ending}:\n${ids}`, exitCodes.usage);
}

/** Find the experiment of a command. Return it with the session. */
export async function namedExperiment(
  context: CliContext,
  project: string | undefined,
  id: string = newest,
): Promise<{
  session: Session;
  experiment: Experiment;
  path: { project_id: string; experiment_id: string };
}> {
  const session = await connect(context.env);
  const experiment = await findExperiment(session, context.folder, { project, id });
  const { project_id, experiment_id } = experiment;
  return { session, experiment, path: { project_id, experiment_id } };
}
