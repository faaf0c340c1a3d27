import type { endpoint as createProjectEndpoint } from '../../functions/projects/projects/create-project.endpoint.ts';
import type { ProjectFile } from '../../shared/config/project-file.ts';
import type { CliContext } from '../context.ts';
import { connect, type Session } from '../login/connect.ts';
import { confirmSameProject } from './confirm-project.ts';
import { findProject, type Project, projectName, requireProject } from './find-project.ts';
import { rememberFolder } from './known-folders.ts';
import { readProjectFile } from './project-file.ts';

/** Return the project of a command, with the session that found it. @throws CliError if there is none */
export async function projectSession(
  { env, folder }: CliContext,
  given: string | undefined,
): Promise<Session & { path: { project_id: string } }> {
  const session = await connect(env);
  const { project_id } = await requireProject(session, folder, given);
  return { ...session, path: { project_id } };
}

/** Return the project to store into; undefined if {@link projectToFill} would create it. */
export async function projectSoFar(
  { folder }: CliContext,
  session: Session,
  given: string | undefined,
): Promise<Project | undefined> {
  return findProject(session, given ?? (await projectName(folder)));
}

/** Return the project to store into. If there is none, print a notice and create it, as `mps run` does. */
export async function projectToFill(
  { folder, printer }: CliContext,
  session: Session,
  given: string | undefined,
): Promise<{ project_id: string }> {
  const name = given ?? (await projectName(folder));
  const file = await readProjectFile(folder);
  const { project, isNew } = await ensureProject(session, name, file);
  if (!isNew && given === undefined && file.project === undefined)
    await confirmSameProject(session, project, folder);
  if (isNew) {
    await rememberFolder(session.env, { url: session.client.url, project_id: project.project_id, folder });
    printer.say(`project ${project.project_name} created`);
  }
  return { project_id: project.project_id };
}

/** Find or create a project. A new project takes its description from mps.yaml, or gets a generated one. */
async function ensureProject(
  session: Session,
  name: string,
  file: ProjectFile,
): Promise<{ project: Project; isNew: boolean }> {
  const project = await findProject(session, name);
  if (project !== undefined) return { project, isNew: false };
  return { project: await createProject(session, name, file), isNew: true };
}

/** Create a project. It takes its description from mps.yaml, or gets a generated one. */
export const createProject = (
  { client }: Session,
  name: string,
  { description, type, task }: ProjectFile,
): Promise<Project> =>
  client.call<typeof createProjectEndpoint>('POST /projects/', {
    query: {
      'project-name': name,
      'project-description': description ?? `Created by mps as ${name}.`,
      'project-type': type ?? 'general',
      'project-task': task ?? 'training',
    },
  });
