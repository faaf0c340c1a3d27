import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { CommandError } from '../command/command-error.ts';
import { pathOf, type ServiceClient } from './service-client.ts';
import { packSource } from './source-archive.ts';

export const configId = 'train.yaml';
const projectName = 'Handwritten digits (demo)';

const ProjectRow = z.object({ project_id: z.string(), project_name: z.string(), owner_id: z.string() });
const Ticket = z.object({
  upload: z.object({ url: z.string(), method: z.string(), headers: z.record(z.string(), z.string()) }),
});
const Environment = z.object({ lock_hash: z.string().nullable() });
const Config = z.object({ version: z.number() });

async function ensureProject(client: ServiceClient): Promise<{ project_id: string; isNew: boolean }> {
  const projects = await client.json(z.array(ProjectRow), 'GET', '/projects/');
  const found = projects.find(
    ({ project_name, owner_id }) => project_name === projectName && owner_id === client.userId,
  );
  if (found !== undefined) return { project_id: found.project_id, isNew: false };
  const query = {
    'project-name': projectName,
    'project-description': 'Tells apart the digits 0 to 9 in images of 8 x 8 pixels.',
    'project-type': 'vision',
    'project-task': 'image-classification',
  };
  const { project_id } = await client.json(ProjectRow, 'POST', '/projects/', { query });
  return { project_id, isNew: true };
}

async function uploadSource(client: ServiceClient, project: string, folder: string): Promise<number> {
  const { bytes, sha256 } = await packSource(folder);
  const path = `${project}/source`;
  const { upload } = await client.json(Ticket, 'POST', path, {
    query: { sha256, size: String(bytes.length) },
  });
  const stored = await fetch(upload.url, { method: upload.method, headers: upload.headers, body: bytes });
  if (!stored.ok)
    throw new CommandError(`Storage refused the source: ${stored.status} ${await stored.text()}`);
  await client.send('PUT', path, { query: { sha256 } });
  return bytes.length;
}

/**
 * Makes the demo project what it has to be, or finds that it is: its configuration, source and environment.
 * `say` gets a line a step. Returns the project's id.
 */
export async function ensureDemoProject(
  client: ServiceClient,
  folder: string,
  say: (step: string, what: string) => void,
): Promise<string> {
  const { project_id, isNew } = await ensureProject(client);
  say('project', `${projectName}, ${isNew ? 'created' : 'found'}: ${project_id}`);
  const project = pathOf('projects', project_id);

  const config = await readFile(join(folder, configId), 'utf8');
  const { version } = await client.json(Config, 'PUT', `${project}${pathOf('configs', configId)}`, {
    headers: { 'Content-Type': 'application/yaml' },
    body: config,
  });
  say('config', `${configId}, version ${version}`);

  say('source', `uploaded, ${await uploadSource(client, project, folder)} bytes`);

  const requirements = (await readFile(join(folder, 'requirements.txt'), 'utf8')).trim().split('\n');
  await client.json(Environment, 'PUT', `${project}/environment`, {
    query: {
      entry_point_command: 'python train.py --config {config}',
      env_type: 'python',
      dependencies: '-r requirements.txt',
    },
  });
  say('environment', `python with ${requirements.join(', ')}`);
  return project_id;
}
