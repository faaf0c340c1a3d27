import { badRequest, notFound } from '../../../shared/core/service-error.ts';
import { listProjects, projectKey } from '../../../shared/data/projects/project.ts';
import type { TableReader } from '../../../shared/data/table/table.ts';

/** Most projects that are searched together. */
const maxProjects = 1000;

/**
 * Ids of the projects to search: those that were named, or all.
 * @throws ServiceError `not-found` for one that does not exist; `bad-request` where there are too many to search them all
 */
export async function projectsToSearch(
  records: TableReader<'records'>,
  named: readonly string[] | undefined,
): Promise<string[]> {
  if (named !== undefined) {
    const ids = [...new Set(named)];
    const found = await records.batchGet(ids.map(projectKey));
    const absent = ids.find((_, index) => found[index] === undefined);
    if (absent !== undefined) throw notFound('project', absent);
    return ids;
  }
  const ids: string[] = [];
  let after: string | undefined;
  do {
    const page = await listProjects(records, { limit: maxProjects + 1 - ids.length, after });
    ids.push(...page.items.map(({ project_id }) => project_id));
    after = page.next;
  } while (after !== undefined && ids.length <= maxProjects);
  if (ids.length <= maxProjects) return ids;
  const message = `is required where there are more than ${maxProjects} projects`;
  throw badRequest([{ in: 'query', name: 'project_id', message }]);
}
