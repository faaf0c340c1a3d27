import { ProjectBytesError } from '../../shared/data/project-bytes.ts';
import { Problem } from '../../shared/endpoint/problem.ts';

/** Throw a 409 problem for what does not fit into a project; any other error as it is. */
export function refuseBytes(error: unknown): never {
  if (error instanceof ProjectBytesError) throw new Problem('conflict', error.message);
  throw error;
}
