import type { endpoint as searchExperiments } from '../../../experiments/search/search-experiments.endpoint.ts';
import type { Experiment, Project } from './answers.ts';
import { page } from './calls.ts';
import { loadProjects } from './projects.ts';

/** Recent activity in all projects. */
export interface Recent {
  projects: readonly Project[];
  live: readonly Experiment[];
  failed: readonly Experiment[];
  ended: readonly Experiment[];
  month: { ended: number; seconds: number; cost: number | null };
}

const maxShown = 8;
const maxLive = 50;
/** Most unfinished experiments that are counted, as many as one page of a search has. */
const maxCounted = 1000;
/** Maximum number of experiments of the month to add up. */
const maxMonth = 1000;
const fields =
  'experiment_id,project_id,name,status,status_reason,outcome,created_at,started_at,stopped_at,duration,best,cost';

const search = async (
  filter: string,
  order_by: string,
  limit: number,
  wanted = fields,
): Promise<Experiment[]> =>
  (
    await page<typeof searchExperiments>('GET /experiments', {
      query: { filter, order_by, limit, fields: wanted },
    })
  ).rows;

/** Find runs of all projects by a part of their name, the newest first. */
export const findRuns = (name: string): Promise<Experiment[]> =>
  search(`name ILIKE '%${name.replaceAll("'", "''")}%'`, 'created_at DESC', 8);

const unfinished = "status NOT IN ('SUCCEEDED', 'FAILED', 'CANCELLED')";

/** Return the number of unfinished experiments of each project by its ID, by one request for all. */
export async function countLive(): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for (const { project_id } of await search(unfinished, 'created_at DESC', maxCounted, 'project_id'))
    counts.set(project_id, (counts.get(project_id) ?? 0) + 1);
  return counts;
}

export async function loadRecent(): Promise<Recent> {
  const now = new Date();
  const month = new Date(now.getFullYear(), now.getMonth(), 1).toISOString();
  const projects = [...(await loadProjects())].sort((a, b) => b.updated_at.localeCompare(a.updated_at));
  if (projects.length === 0)
    return { projects, live: [], failed: [], ended: [], month: { ended: 0, seconds: 0, cost: null } };
  const [live, failed, ended, months] = await Promise.all([
    search(unfinished, 'created_at DESC', maxLive),
    search("status = 'FAILED'", 'stopped_at DESC', maxShown),
    search('stopped_at IS NOT NULL', 'stopped_at DESC', maxShown),
    search(`stopped_at >= '${month}'`, 'stopped_at DESC', maxMonth, 'duration,cost'),
  ]);
  const costs = months.flatMap(({ cost }) => (cost === null ? [] : [cost]));
  return {
    projects,
    live,
    failed,
    ended,
    month: {
      ended: months.length,
      seconds: months.reduce((sum, { duration }) => sum + (duration ?? 0), 0),
      cost: costs.length === 0 ? null : costs.reduce((sum, cost) => sum + cost, 0),
    },
  };
}
