import { notFound } from '../../shared/core/service-error.ts';
import { environmentKey, parseEnvironment } from '../../shared/data/environment.ts';
import { listExperiments } from '../../shared/data/experiment.ts';
import { readRecords } from '../../shared/data/needs.ts';
import { countersKey, parseCounters, parseProject, projectKey } from '../../shared/data/project.ts';
import { findBest } from '../../shared/data/ranking.ts';
import { pageOf, readPage } from '../../shared/data/read-page.ts';
import { defineEndpoint } from '../../shared/http/definition.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { projectPath } from '../../shared/http/project-path.ts';
import { Reply } from '../../shared/http/reply.ts';
import { judged, showBest } from '../experiments/best-answer.ts';
import { criterionOf } from '../experiments/criteria.ts';
import { showProject } from './project-answer.ts';
import { ProjectDetails } from './project-details.ts';

export const endpoint = defineEndpoint({
  name: 'readProject',
  method: 'GET',
  path: '/projects/{project_id}',
  summary: 'Details of a project',
  description:
    'The project with its environment, how many configurations and experiments it has, its latest experiment, and its best one by its criterion.',
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
    const { configs, experiments, bytes } =
      countersItem === undefined ? { configs: 0, experiments: 0, bytes: 0 } : parseCounters(countersItem);
    const environment = readPage(pageOf(environmentItem), parseEnvironment);
    const [latest, best] =
      experiments === 0
        ? []
        : await Promise.all([
            listExperiments(records, project_id, { limit: 1 }),
            findBest(records, project_id, criterionOf(project)),
          ]);
    const [latestOne, bestOne] = [latest?.items[0], best?.items[0]];
    const details = {
      ...showProject(project),
      environment: environment.items[0] ?? null,
      configs,
      experiments,
      bytes,
      limit_bytes: settings.limits.projectBytes,
      latest_experiment: latestOne === undefined ? null : { ...latestOne, ...judged(latestOne) },
      best_experiment: bestOne === undefined ? null : { ...bestOne, best: showBest(bestOne.best) },
    };
    const unreadable = [environment, latest, best].flatMap((page) => page?.unreadable ?? []);
    return Reply.json(details, { version: project.version, unreadable });
  },
});

export const handler = lambda(endpoint);
