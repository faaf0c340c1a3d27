import type { Method } from '../../../shared/http/definition/request-method.ts';

export interface PublishedParameter {
  name: string;
  /** `fields`: the published interface does not say where; the query or the body. */
  in: 'path' | 'query' | 'fields';
  required: boolean;
  type: 'string' | 'integer' | 'boolean';
}

/** One row of the published interface. */
export interface PublishedOperation {
  method: Method;
  path: string;
  parameters: readonly PublishedParameter[];
  status: 200 | 201;
  fieldsMask: boolean;
}

type ParameterLocation = PublishedParameter['in'];

const needed = (place: ParameterLocation, ...names: string[]): PublishedParameter[] =>
  names.map((name) => ({ name, in: place, required: true, type: 'string' }));

const typed = (name: string, type: PublishedParameter['type'], required: boolean): PublishedParameter => ({
  name,
  in: 'query',
  required,
  type,
});

function operation(
  method: Method,
  path: string,
  parameters: readonly PublishedParameter[] = [],
  more: Partial<PublishedOperation> = {},
): PublishedOperation {
  return { method, path, parameters, status: 200, fieldsMask: false, ...more };
}

const project = needed('path', 'project_id');
const config = needed('path', 'project_id', 'config_id');
const username = needed('path', 'username');
const masked = { fieldsMask: true };

/** The tables of the published interface, row by row. */
export const publishedOperations: readonly PublishedOperation[] = [
  operation(
    'POST',
    '/projects/',
    needed('query', 'project-name', 'project-description', 'project-type', 'project-task'),
  ),
  operation('GET', '/projects/', [], masked),
  operation('GET', '/projects/criteria'),
  operation('GET', '/projects/{project_id}', project, masked),
  operation('DELETE', '/projects/{project_id}', project),
  operation('GET', '/projects/{project_id}/configs', project),
  operation('GET', '/projects/{project_id}/configs/{config_id}', config),
  operation('GET', '/projects/{project_id}/configs/{config_id}/graph', config),
  operation('GET', '/projects/{project_id}/environment', project),
  operation('PUT', '/projects/{project_id}/environment', [
    ...project,
    ...needed('query', 'entry_point_command', 'env_type', 'dependencies'),
  ]),
  operation('GET', '/projects/{project_id}/experiments', project),
  operation('POST', '/projects/{project_id}/train', [...project, ...needed('query', 'config')]),
  operation('POST', '/projects/{project_id}/train-remote', project),

  operation('POST', '/users/', needed('fields', 'username', 'password', 'account_type'), {
    status: 201,
  }),
  operation('GET', '/users/'),
  operation('DELETE', '/users/', needed('fields', 'username')),
  operation('GET', '/users/check/{username}', username),
  operation('POST', '/users/{user_id}/type', [
    ...needed('path', 'user_id'),
    ...needed('fields', 'account_type'),
  ]),
  operation('GET', '/users/{username}/profile_picture/', username),
  operation('GET', '/users/{username}/thumbnail/', username),

  operation(
    'POST',
    '/optimization/prune',
    [
      ...needed('query', 'model_name', 'inputs', 'outputs', 'strategy'),
      typed('compression', 'integer', false),
    ],
    masked,
  ),
  operation('GET', '/optimization/prune/strategies'),
  operation(
    'POST',
    '/optimization/quantize',
    [
      ...needed('query', 'model_name', 'strategy'),
      typed('precision', 'integer', true),
      typed('quant_type', 'string', false),
      typed('leaf_node', 'boolean', false),
    ],
    masked,
  ),
  operation('GET', '/optimization/quantize/strategies'),
];
