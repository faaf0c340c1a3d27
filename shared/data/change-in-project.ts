import { type Project, requireProject } from './project.ts';
import { retryOnConflict } from './retry-on-conflict.ts';
import type { TableReader } from './table.ts';

/**
 * Make a change that reads a record of a project and writes its next version. Retry it when another change came
 * between, with the project as it is then.
 * @throws ServiceError `not-found` once the project is gone
 * @throws ServiceError `conflict` when other changes keep coming between
 */
export function changeInProject<T>(
  records: TableReader<'records'>,
  project: Project,
  attempt: (project: Project) => Promise<T>,
): Promise<T> {
  return retryOnConflict(async (number) =>
    attempt(number === 1 ? project : await requireProject(records, project.project_id)),
  );
}
