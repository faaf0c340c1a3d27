import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { endpoint as createToken } from '../../../functions/auth/create-token.endpoint.ts';
import type { endpoint as createProject } from '../../../functions/projects/projects/create-project.endpoint.ts';
import { Client } from '../../../shared/client/client.ts';
import { startLocalService } from '../../support/local-service.ts';
import { type Ended, startMps } from '../../support/mps.ts';
import { proofFolder } from '../../support/short-form.ts';

const password = 'a long enough password';

/** A running service, its admin as a client, and folders in which the admin's `mps` runs. */
export interface World {
  client: Client;
  /** Create a project, and a folder of its name with these files. @returns the id of the project */
  project(name: string, files: Readonly<Record<string, string>>): Promise<string>;
  /** Run `mps` in the folder of a project. */
  mps(project: string, ...args: string[]): Promise<Ended>;
}

/** Start a service in which a minute of a vCPU costs US$ 1, and a user may have one unfinished job. */
export async function startWorld(started: AsyncDisposableStack): Promise<World> {
  const folder = await proofFolder();
  started.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }));
  const service = await startLocalService(['--data', join(folder, 'data')], {
    ADMIN_PASSWORD: password,
    LOCAL_PRICE: '60',
    LIMIT_UNFINISHED_JOBS: '1',
  });
  if (!('url' in service)) throw new Error(service.output);
  started.defer(async () => void (await service.end('SIGTERM')));
  const { url } = service;
  const { access_token } = await new Client({ url }).call<typeof createToken>('POST /auth/token', {
    body: { grant_type: 'password', username: 'admin', password },
  });
  const client = new Client({ url, token: access_token });
  const environment = { MPS_URL: url, MPS_TOKEN: access_token };

  return {
    client,
    async project(name, files) {
      await mkdir(join(folder, name), { recursive: true });
      for (const [file, text] of Object.entries(files)) await writeFile(join(folder, name, file), text);
      const query = {
        'project-name': name,
        'project-description': 'It shows a truth.',
        'project-type': 'proof',
        'project-task': 'showing',
      };
      return (await client.call<typeof createProject>('POST /projects/', { query })).project_id;
    },
    mps: (project, ...args) =>
      startMps(args, { folder: join(folder, project), home: join(folder, 'home'), environment }).ended,
  };
}
