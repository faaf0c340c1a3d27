import type { RowOf } from '../../../../shared/client/route.ts';
import type { endpoint as deleteVariable } from '../../../projects/variables/delete-variable.endpoint.ts';
import type { endpoint as listVariables } from '../../../projects/variables/list-variables.endpoint.ts';
import type { endpoint as putVariable } from '../../../projects/variables/put-variable.endpoint.ts';
import { call } from './calls.ts';

export type Variable = RowOf<typeof listVariables>;

export const loadVariables = (project_id: string): Promise<Variable[]> =>
  call<typeof listVariables>('GET /projects/{project_id}/variables', { path: { project_id } });
export const setVariable = (project_id: string, name: string, value: string, secret: boolean) =>
  call<typeof putVariable>('PUT /projects/{project_id}/variables/{name}', {
    path: { project_id, name },
    body: { value, secret },
  });
export const removeVariable = (project_id: string, name: string) =>
  call<typeof deleteVariable>('DELETE /projects/{project_id}/variables/{name}', {
    path: { project_id, name },
  });
