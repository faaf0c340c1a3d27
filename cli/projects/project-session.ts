import type { CliContext } from '../context.ts';
import { connect, type Session } from '../login/connect.ts';
import { requireProject } from './find-project.ts';

/** The project of a command, with the session that found it. @throws CliError where there is none */
export async function projectSession(
  { env, folder }: CliContext,
  given: string | undefined,
): Promise<Session & { path: { project_id: string } }> {
  const session = await connect(env);
  const { project_id } = await requireProject(session, folder, given);
  return { ...session, path: { project_id } };
}
