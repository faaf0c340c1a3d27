import { ServiceError } from '../../../shared/core/service-error.ts';
import { ProjectBytesError } from '../../../shared/data/projects/project.ts';

/** Throw a 409 problem for what does not fit into a project; any other error as it is. */
export function refuseBytes(error: unknown): never {
  if (error instanceof ProjectBytesError) throw new ServiceError('conflict', error.message);
  throw error;
}
