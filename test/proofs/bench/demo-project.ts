import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { endpoint as putConfig } from '../../../functions/projects/configs/put-config.endpoint.ts';
import type { endpoint as putEnvironment } from '../../../functions/projects/environment/put-environment.endpoint.ts';
import type { endpoint as createProject } from '../../../functions/projects/projects/create-project.endpoint.ts';
import type { endpoint as listProjects } from '../../../functions/projects/projects/list-projects.endpoint.ts';
import type { Session } from '../../../infra/tools/demo/demo-service.ts';
import { packSource, uploadSource } from './upload-source.ts';

/**
 * Makes the demo project what it has to be, or finds that it is: its configuration, source and environment.
 * `say` gets a line a step. Returns the project's id.
 */
export async function ensureDemoProject(
  session: Session,
  folder: string,
  say: (step: string, what: string) => void,
): Promise<string> {
  const { project_id, isNew } = await ensureProject(session);
  say('project', `${projectName}, ${isNew ? 'created' : 'found'}: ${project_id}`);
  const { client } = session;
  const path = { project_id };

  const config = await readFile(join(folder, configId), 'utf8');
  const configRoute = 'PUT /projects/{project_id}/configs/{config_id}';
  const { version } = await client.call<typeof putConfig>(configRoute, {
    path: { project_id, config_id: configId },
    file: config,
  });
  say('config', `${configId}, version ${version}`);

  const source = await packSource(folder);
  await uploadSource(client, project_id, source);
  say('source', `uploaded, ${source.bytes.length} bytes`);

  const requirements = (await readFile(join(folder, 'requirements.txt'), 'utf8')).trim().split('\n');
  await client.call<typeof putEnvironment>('PUT /projects/{project_id}/environment', {
    path,
    query: {
      entry_point_command: 'python train.py --config {config}',
      env_type: 'python',
      dependencies: '-r requirements.txt',
    },
  });
  say('environment', `python with ${requirements.join(', ')}`);
  return project_id;
}

const projectName = 'Handwritten digits (demo)';

async function ensureProject({ client, user_id }: Session): Promise<{ project_id: string; isNew: boolean }> {
  for await (const row of client.rows<typeof listProjects>('GET /projects/', { query: { member: true } }))
    if (row.project_name === projectName && row.owner_id === user_id)
      return { project_id: row.project_id, isNew: false };
  const { project_id } = await client.call<typeof createProject>('POST /projects/', {
    query: {
      'project-name': projectName,
      'project-description': 'Tells apart the digits 0 to 9 in images of 8 x 8 pixels.',
      'project-type': 'vision',
      'project-task': 'image-classification',
    },
  });
  return { project_id, isNew: true };
}

const configId = 'train.yaml';
