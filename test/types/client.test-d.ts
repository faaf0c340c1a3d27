// Calls of the client that must not compile: `tsc` fails where an expected error does not come.

import type { endpoint as putConfig } from '../../functions/projects/configs/put-config.endpoint.ts';
import type { endpoint as createProject } from '../../functions/projects/projects/create-project.endpoint.ts';
import type { endpoint as listProjects } from '../../functions/projects/projects/list-projects.endpoint.ts';
import type { endpoint as readSource } from '../../functions/projects/uploads/read-source.endpoint.ts';
import type { endpoint as createUser } from '../../functions/users/create-user.endpoint.ts';
import type { Client } from '../../shared/client/client.ts';

declare const client: Client;
const query = {
  'project-name': 'Hello',
  'project-description': 'A project',
  'project-type': 'vision',
  'project-task': 'classification',
};
const path = { project_id: '01' };

export async function calls(): Promise<void> {
  const project = await client.call<typeof createProject>('POST /projects/', { query });
  const name: string = project.project_name;
  // @ts-expect-error a name is no number
  const size: number = project.project_name;
  // @ts-expect-error the path is that of the definition, with its slash
  await client.call<typeof createProject>('POST /projects', { query });
  // @ts-expect-error so is the method
  await client.call<typeof createProject>('PUT /projects/', { query });
  // @ts-expect-error what is required may not be missing
  await client.call<typeof createProject>('POST /projects/');
  // @ts-expect-error nor a part of it
  await client.call<typeof createProject>('POST /projects/', { query: { 'project-name': name } });
  // @ts-expect-error a parameter of the path is one, too
  await client.call<typeof readSource>('GET /projects/{project_id}/source', { query: {} });
  await client.call<typeof readSource>('GET /projects/{project_id}/source', { path });
  // @ts-expect-error a file is sent as a file
  await client.call<typeof putConfig>('PUT /projects/{project_id}/configs/{config_id}', {
    path: { ...path, config_id: 'a' },
  });
  const fields = { username: 'ada', account_type: 'viewer' } as const;
  await client.call<typeof createUser>('POST /users/', { fields, body: { password: 'a' } });
  const wrong = { fields: { ...fields, account_type: 'owner' as const }, body: { password: 'a' } };
  // @ts-expect-error there is no such type of account
  await client.call<typeof createUser>('POST /users/', wrong);
  for await (const row of client.rows<typeof listProjects>('GET /projects/')) {
    // @ts-expect-error rows have the fields that the definition says
    console.log(row.project_id, row.colour, size);
  }
}
