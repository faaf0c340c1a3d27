import type { endpoint as searchExperiments } from '../../../experiments/search/search-experiments.endpoint.ts';
import type { endpoint as listProjects } from '../../../projects/projects/list-projects.endpoint.ts';
import type { endpoint as readUserBudget } from '../../../users/budget/read-user-budget.endpoint.ts';
import type { Experiment } from './answers.ts';
import { call, page } from './calls.ts';
import { type ListedProject, loadProject } from './projects.ts';

const maxShown = 8;
export const maxLive = 50;
/** Most unfinished experiments that are counted, as many as one page of a search has. */
const maxCounted = 1000;
const fields =
  'experiment_id,project_id,name,status,status_reason,outcome,created_at,started_at,stopped_at,duration,best,cost,sparkline,warnings';

const search = async (
  filter: string,
  order_by: string,
  limit: number,
  wanted = fields,
): Promise<Experiment[]> =>
  (
    await page<typeof searchExperiments>('GET /experiments', {
      query: { ...(filter !== '' && { filter }), order_by, limit, fields: wanted },
    })
  ).rows;

/** Find runs of all projects by a part of their name, the newest first. */
export const findRuns = (name: string): Promise<Experiment[]> =>
  search(`name ILIKE '%${name.replaceAll("'", "''")}%'`, 'created_at DESC', 8);

const ended = "('SUCCEEDED', 'FAILED', 'CANCELLED')";
const unfinished = `status NOT IN ${ended}`;

/** Return the number of unfinished experiments of each project by its ID, by one request for all. */
export async function countLive(): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for (const { project_id } of await search(unfinished, 'created_at DESC', maxCounted, 'project_id'))
    counts.set(project_id, (counts.get(project_id) ?? 0) + 1);
  return counts;
}

/** Experiments that have not ended, the newest first. */
export const loadUnfinished = (): Promise<Experiment[]> => search(unfinished, 'created_at DESC', maxLive);

const week = 7 * 86_400_000;

/**
 * Experiments that failed within a week, and those that last ended. The service finds these by their status and order without
 * the others, so the week is no condition.
 */
export const loadFailed = async (): Promise<Experiment[]> =>
  (await search("status = 'FAILED'", 'stopped_at DESC', maxShown)).filter(
    ({ stopped_at }) => stopped_at !== null && Date.parse(stopped_at) >= Date.now() - week,
  );
export const loadEnded = (): Promise<Experiment[]> =>
  search(`status IN ${ended}`, 'stopped_at DESC', maxShown);

/** The newest projects, and whether there are others. */
export async function loadRecentProjects(): Promise<{ projects: ListedProject[]; hasMore: boolean }> {
  const { rows } = await page<typeof listProjects>('GET /projects/', { query: { limit: maxShown + 1 } });
  return { projects: rows.slice(0, maxShown), hasMore: rows.length > maxShown };
}

/** Return a reader of the names of projects by ID. It asks for each once. The name of a project that is gone is its ID. */
export function projectNames(): (project_id: string) => Promise<string> {
  const names = new Map<string, Promise<string>>();
  return (project_id) => {
    const name =
      names.get(project_id) ??
      loadProject(project_id).then(
        ({ project_name }) => project_name,
        () => project_id,
      );
    names.set(project_id, name);
    return name;
  };
}

/** Return the newest experiment of all projects, for a page that waits for the first one. */
export const loadNewest = async (): Promise<Experiment | undefined> =>
  (await search('', 'created_at DESC', 1))[0];

/** Return what the user's jobs of this month have cost: the counter of the user's budget, in US$. */
export const loadOwnCost = async (user_id: string): Promise<number> =>
  (await call<typeof readUserBudget>('GET /users/{user_id}/budget', { path: { user_id } })).spent;
