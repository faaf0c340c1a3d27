import type { endpoint as createProject } from '../../functions/projects/projects/create-project.endpoint.ts';
import type { ProjectFile } from '../../shared/config/project-file.ts';
import type { Session } from '../login/connect.ts';
import { findProject, type Project } from './find-project.ts';

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
