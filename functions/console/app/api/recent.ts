import type { Experiment, Project } from './answers.ts';
import { experimentsPage, loadProjects } from './projects.ts';

/** What has happened lately in all projects. */
export interface Recent {
  projects: readonly Project[];
  experiments: readonly Experiment[];
  month: { ended: number; seconds: number; cost: number | null };
}

/** Projects whose experiments the overview reads. */
const projectsMost = 12;
const experimentsMost = 30;

export async function loadRecent(): Promise<Recent> {
  const projects = [...(await loadProjects())].sort((a, b) => b.updated_at.localeCompare(a.updated_at));
  const pages = await Promise.all(
    projects.slice(0, projectsMost).map(({ project_id }) => experimentsPage(project_id, experimentsMost)),
  );
  const experiments = pages
    .flatMap(({ rows }) => rows)
    .sort((a, b) => (b.stopped_at ?? b.created_at).localeCompare(a.stopped_at ?? a.created_at));
  const start = new Date();
  const month = new Date(start.getFullYear(), start.getMonth(), 1).toISOString();
  const ended = experiments.filter(({ stopped_at }) => stopped_at !== null && stopped_at >= month);
  const costs = ended.flatMap(({ cost }) => (cost === null ? [] : [cost]));
  return {
    projects,
    experiments,
    month: {
      ended: ended.length,
      seconds: ended.reduce((sum, { duration }) => sum + (duration ?? 0), 0),
      cost: costs.length === 0 ? null : costs.reduce((sum, cost) => sum + cost, 0),
    },
  };
}
