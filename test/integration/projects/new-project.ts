import { endpoint as createProject } from '../../../functions/projects/projects/create-project.endpoint.ts';
import type { TestService, TestUser } from '../../support/service.ts';

/** A new project of this user; answers its id. */
export async function newProject(
  service: TestService,
  owner: TestUser,
  task = 'classification',
): Promise<string> {
  const { status, json } = await service.call(createProject, {
    query: {
      'project-name': 'digits',
      'project-description': 'Reads digits',
      'project-type': 'vision',
      'project-task': task,
    },
    as: owner,
  });
  if (status !== 200) throw new Error(`creating a project answered ${status}`);
  return json.project_id;
}
