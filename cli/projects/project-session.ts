import type { CliContext } from '../context.ts';
import { connect, type Session } from '../login/connect.ts';
import { readProjectFile } from '../run/project-file.ts';
import { ensureProject } from './ensure-project.ts';
import { projectName, requireProject } from './find-project.ts';

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
