import { notFound } from '../../../shared/core/service-error.ts';
import { cataloguePartition } from '../../../shared/data/experiments/catalogue-mark.ts';
import { listExperiments } from '../../../shared/data/experiments/experiment.ts';
import { readProjects } from '../../../shared/data/experiments/search-experiments.ts';
import { nothingTracked, readTracking } from '../../../shared/data/experiments/tracking.ts';
import { environmentKey, parseEnvironment } from '../../../shared/data/projects/environment.ts';
import { criteriaOf } from '../../../shared/data/projects/inferred-criterion.ts';
import {
  countersKey,
  parseCounters,
  parseProject,
  projectKey,
} from '../../../shared/data/projects/project.ts';
import type { UnreadableRecordError } from '../../../shared/data/table/item.ts';
import { readRecords } from '../../../shared/data/table/needs.ts';
import { RecentValues } from '../../../shared/data/table/recent-values.ts';
import { pageOf, readPage, type TableReader } from '../../../shared/data/table/table.ts';
import { judged } from '../../../shared/experiments/best-answer.ts';
import { rankProject } from '../../../shared/experiments/rank-project.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { projectPath } from '../../../shared/http/definition/parameters.ts';
import { Reply } from '../../../shared/http/definition/reply.ts';
import { criterionOf } from '../../../shared/metrics/criteria.ts';
import { MetricRanker, metricsOf } from '../../../shared/metrics/metric-ranker.ts';
import { showProject } from './project-answer.ts';
import { ProjectDetails } from './project-details.ts';

export const endpoint = defineEndpoint({
  name: 'readProject',
  method: 'GET',
  path: '/projects/{project_id}',
  summary: 'Details of a project',
  description:
    'Returns the project with its environment, its numbers of configurations and experiments, its latest experiment, and its best experiment by the criterion.',
  allow: 'viewer',
  needs: { records: readRecords },
  input: { path: projectPath },
  output: { 200: ProjectDetails },
  problems: ['not-found'],
  fieldsMask: true,
  etag: true,

  async handle({ path: { project_id } }, { records, settings }) {
    const keys = [projectKey(project_id), environmentKey(project_id), countersKey(project_id)];
    const [projectItem, environmentItem, countersItem] = await records.batchGet(keys);
    if (projectItem === undefined) throw notFound('project', project_id);
    const project = parseProject(projectItem);
    const { configs, experiments, ended, bytes } =
      countersItem === undefined
        ? { configs: 0, experiments: 0, ended: 0, bytes: 0 }
        : parseCounters(countersItem);
    const environment = readPage(pageOf(environmentItem), parseEnvironment);
    const criterion = (await criteriaOf(records, [project])).get(project_id) ?? criterionOf(project);
    const ranker = new MetricRanker(criterion);
    const [latest, ranked = nothingRanked] =
      experiments === 0
        ? []
        : await Promise.all([
            listExperiments(records, project_id, { limit: 1 }),
            rankRecently(records, project_id, { ranker, experiments, ended }),
          ]);
    const latestOne = latest?.items[0];
    const [latestTracked, bestTracked] = await Promise.all(
      [latestOne, ranked.best?.row].map((one) =>
        one === undefined ? nothingTracked : readTracking(records, project_id, one.experiment_id),
      ),
    );
    const details = {
      ...showProject(project, criterion),
      views: project.views ?? [],
      baseline: project.baseline ?? null,
      environment: environment.items[0] ?? null,
      configs,
      experiments,
      bytes,
      limit_bytes: settings.limits.projectBytes,
      latest_experiment:
        latestOne === undefined
          ? null
          : { ...latestOne, ...judged(latestOne, latestTracked?.metrics ?? new Map(), ranker) },
      best_experiment:
        ranked.best === undefined
          ? null
          : {
              experiment_id: ranked.best.row.experiment_id,
              config_id: ranked.best.row.config_id,
              // The row does not contain the step.
              best: ranker.best(metricsOf(bestTracked?.metrics ?? new Map())) ?? ranked.best.value,
            },
      best_reason: ranked.best_reason,
      metrics: ranked.metrics,
    };
    const unreadable = [environment, latest, ranked].flatMap((page) => page?.unreadable ?? []);
    return Reply.json(details, { version: project.version, unreadable });
  },
});

type Ranked = ReturnType<typeof rankProject> & { unreadable: UnreadableRecordError[] };

const nothingRanked: Ranked = { best: undefined, best_reason: null, metrics: [], unreadable: [] };

const rankings = new RecentValues<Ranked>();

/**
 * Rank the runs of a project, at most once a second: they may be thousands. A run that began or ended since changes the
 * counters of the project, and all other changes that this process makes are noted in the project's catalogue. Metrics
 * of a running job count within a second.
 */
function rankRecently(
  records: TableReader<'records'>,
  project_id: string,
  { ranker, experiments, ended }: { ranker: MetricRanker; experiments: number; ended: number },
): Promise<Ranked> {
  const key = JSON.stringify([project_id, ranker.criterion, experiments, ended]);
  return rankings.get(records, key, [cataloguePartition(project_id)], async () => {
    const projects = await readProjects(records, [project_id]);
    const rows = projects.flatMap((one) => one.rows);
    return { ...rankProject(rows, ranker), unreadable: projects.flatMap(({ unreadable }) => unreadable) };
  });
}
