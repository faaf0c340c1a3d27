import type { endpoint as createProject } from '../../functions/projects/projects/create-project.endpoint.ts';
import type { ProjectFile } from '../../shared/config/project-file.ts';
import type { CliContext } from '../context.ts';
import { connect, type Session } from '../login/connect.ts';
import { findProject, type Project, projectName, requireProject } from './find-project.ts';
import { readProjectFile } from './project-file.ts';

/** The project of a command, with the session that found it. @throws CliError where there is none */
export async function projectSession(
  { env, folder }: CliContext,
  given: string | undefined,
): Promise<Session & { path: { project_id: string } }> {
  const session = await connect(env);
  const { project_id } = await requireProject(session, folder, given);
  return { ...session, path: { project_id } };
}

/** The project for what a command stores. As in `mps run` it is created, after a line of notice, where there is none. */
export async function projectToFill(
  { folder, printer }: CliContext,
  session: Session,
  given: string | undefined,
): Promise<{ project_id: string }> {
  const name = given ?? (await projectName(folder));
  const { project, isNew } = await ensureProject(session, name, await readProjectFile(folder));
  if (isNew) printer.say(`project ${project.project_name} created`);
  return { project_id: project.project_id };
}

/**
 * The project of this name, created where there is none. Whoever creates one by a command has not described it yet.
 *
 * @param beforeCreating what has to be settled first; nothing is created where it throws
 */
export async function ensureProject(
  session: Session,
  name: string,
  { description, type, task }: ProjectFile,
  beforeCreating: () => void = () => {},
): Promise<{ project: Project; isNew: boolean }> {
  const found = await findProject(session, name);
  if (found !== undefined) return { project: found, isNew: false };
  beforeCreating();
  const project = await session.client.call<typeof createProject>('POST /projects/', {
    query: {
      'project-name': name,
      'project-description': description ?? `Created by mps as ${name}.`,
      'project-type': type ?? 'general',
      'project-task': task ?? 'training',
    },
  });
  return { project, isNew: true };
}
