import { ServiceError } from '../core/service-error.ts';
import { readRecords } from '../data/needs.ts';
import { requireProject, requireProjectToRemove } from '../data/project.ts';
import type { Before } from './exchange.ts';

function projectId(path: unknown): string | undefined {
  if (typeof path !== 'object' || path === null || !('project_id' in path)) return undefined;
  return typeof path.project_id === 'string' ? path.project_id : undefined;
}

/** Reads the project that the path names, and refuses callers who may not change it where the endpoint does. */
export const requireProjectOfPath: Before = async (exchange) => {
  const { endpoint, caller, input, platform } = exchange;
  if (endpoint.project === undefined) return;
  const id = projectId(input?.path);
  if (id === undefined) throw new Error(`${endpoint.name} has a project rule but no project_id in its path`);
  const find = endpoint.project === 'remove' ? requireProjectToRemove : requireProject;
  const project = await find(readRecords.open(platform), id);
  if (
    endpoint.project !== 'exists' &&
    caller?.account_type !== 'admin' &&
    project.owner_id !== caller?.user_id
  ) {
    throw new ServiceError(
      'forbidden',
      'This project belongs to somebody else; only its owner and admins may change it.',
    );
  }
  exchange.project = project;
};
