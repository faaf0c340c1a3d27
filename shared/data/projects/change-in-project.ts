import { retryOnConflict } from '../table/retry-on-conflict.ts';
import type { Project } from './project.ts';

/**
 * Make a change that reads a record of a project and writes its next version. Retry it when another change came
 * between, with the project as it is then.
 * @throws ServiceError `not-found` once the project is gone
 * @throws ServiceError `forbidden` once the caller may not do this any more
 * @throws ServiceError `conflict` when other changes keep coming between
 */
export function changeInProject<T>(
  { project, projectNow }: CheckedProject,
  attempt: (project: Project) => Promise<T>,
): Promise<T> {
  return retryOnConflict(async (number) => attempt(number === 1 ? project : await projectNow()));
}

/** A project as it was read when the caller's role in it was checked. */
export interface CheckedProject {
  project: Project;
  /** Reads it anew, and checks the role anew: the owner or a member may be another one by then. */
  projectNow(): Promise<Project>;
}
