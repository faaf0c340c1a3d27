import { basename } from 'node:path';
import type { endpoint as listProjects } from '../../functions/projects/projects/list-projects.endpoint.ts';
import type { endpoint as readProject } from '../../functions/projects/projects/read-project.endpoint.ts';
import type { Client } from '../../shared/client/client.ts';
import type { RowOf } from '../../shared/client/route.ts';
import { CliError } from '../cli-error.ts';
import { readProjectFile } from './project-file.ts';

/**
 * Find a project by its name or ID; undefined if there is none. Prefer the user's own project.
 *
 * @throws CliError if several other projects share the name
 */
export async function findProject(
  { client, token }: { client: Client; token: string },
  name: string,
): Promise<Project | undefined> {
  if (ulidPattern.test(name))
    return client.call<typeof readProject>('GET /projects/{project_id}', { path: { project_id: name } });
  const found: Project[] = [];
  for await (const project of client.rows<typeof listProjects>('GET /projects/', { query: { limit: 1000 } }))
    if (project.project_name === name) found.push(project);
  const own = found.filter(({ owner_id }) => owner_id === userIdOf(token));
  const [first, ...more] = own.length > 0 ? own : found;
  if (more.length === 0) return first;
  const ids = [first, ...more].map((project) => `  ${project?.project_id} of ${project?.owner ?? 'nobody'}`);
  throw new CliError(
    `Several projects are called "${name}":\n${ids.join('\n')}\nChoose one with --project ID.`,
  );
}

export type Project = Omit<RowOf<typeof listProjects>, 'experiments'>;

const ulidPattern = /^[0-9a-hjkmnp-tv-z]{26}$/;

/** Return the user ID, which is the first part of a token. */
const userIdOf = (token: string): string => token.split('.')[0] ?? '';

/** Return the project name from mps.yaml, else the folder's name. */
export async function projectName(folder: string): Promise<string> {
  const { project } = await readProjectFile(folder);
  return (project ?? basename(folder)) || 'project';
}

/** Return the project of a command. @throws CliError if there is none */
export async function requireProject(
  session: { client: Client; token: string },
  folder: string,
  given: string | undefined,
): Promise<Project> {
  const name = given ?? (await projectName(folder));
  const project = await findProject(session, name);
  if (project !== undefined) return project;
  throw new CliError(
    `There is no project "${name}". Name another with --project, or create it with "mps run", "mps data push", "mps config push" or "mps env set".`,
  );
}
