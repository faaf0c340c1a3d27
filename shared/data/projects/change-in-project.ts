import { retryOnConflict } from '../table/retry-on-conflict.ts';
import type { Project } from './project.ts';

/**
 * Make a change that reads a record of a project and writes its next version. If another change came between,
 * retry with the current project.
 * @throws ServiceError `not-found` if the project is gone
 * @throws ServiceError `forbidden` if the caller has lost the permission
 * @throws ServiceError `conflict` if other changes keep coming between
 */
export function changeInProject<T>(
  { project, projectNow }: CheckedProject,
  attempt: (project: Project) => Promise<T>,
): Promise<T> {
  return retryOnConflict(async (number) => attempt(number === 1 ? project : await projectNow()));
}

/** Project at the time of the caller's role check. */
export interface CheckedProject {
  project: Project;
  /** Read the project and check the role again, because the owner or a member may have changed. */
  projectNow(): Promise<Project>;
}
