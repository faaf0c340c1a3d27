import { createHash } from 'node:crypto';
import { endpoint as putConfig } from '../../../../functions/projects/configs/put-config.endpoint.ts';
import { endpoint as putEnvironment } from '../../../../functions/projects/environment/put-environment.endpoint.ts';
import { endpoint as createProject } from '../../../../functions/projects/projects/create-project.endpoint.ts';
import { endpoint as putSource } from '../../../../functions/projects/uploads/put-source.endpoint.ts';
import { endpoint as requestUpload } from '../../../../functions/projects/uploads/request-source-upload.endpoint.ts';
import { must } from './ask.ts';
import type { Service } from './service.ts';

/** A project that is ready to be trained: a configuration, an environment, and with `source` an archive. */
export async function newProject(
  { environment }: Service,
  token: string,
  command: string,
  source?: Buffer,
): Promise<string> {
  const query = {
    'project-name': 'digits',
    'project-description': 'Reads digits',
    'project-type': 'vision',
    'project-task': 'classification',
  };
  const { project_id } = await must(createProject, environment, { query, token });
  const path = { project_id };
  await must(putConfig, environment, {
    path: { project_id, config_id: 'train.yaml' },
    headers: { 'Content-Type': 'application/yaml' },
    body: 'epochs: 3\n',
    token,
  });
  const set = { entry_point_command: command, env_type: 'system', dependencies: 'none' };
  await must(putEnvironment, environment, { path, query: set, token });
  if (source !== undefined) {
    const sha256 = createHash('sha256').update(source).digest('hex');
    const asked = { path, query: { sha256, size: String(source.length) }, token };
    const { upload } = await must(requestUpload, environment, asked);
    const { 'content-length': _, ...headers } = upload.headers;
    const put = await fetch(upload.url, { method: upload.method, headers, body: new Uint8Array(source) });
    if (!put.ok) throw new Error(`the upload was refused: ${await put.text()}`);
    await must(putSource, environment, { path, query: { sha256 }, token });
  }
  return project_id;
}
