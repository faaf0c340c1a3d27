import { endpoint as cancelExperiment } from '../../../../functions/experiments/records/cancel-experiment.endpoint.ts';
import { endpoint as deleteExperiment } from '../../../../functions/experiments/records/delete-experiment.endpoint.ts';
import { endpoint as readExperiment } from '../../../../functions/experiments/records/read-experiment.endpoint.ts';
import { endpoint as listExperiments } from '../../../../functions/experiments/search/list-experiments.endpoint.ts';
import { endpoint as rerunExperiment } from '../../../../functions/projects/training/rerun-experiment.endpoint.ts';
import { endpoint as trainProject } from '../../../../functions/projects/training/train-project.endpoint.ts';
import { pick } from '../../../support/random-choice.ts';
import type { Ask, Request } from './client.ts';
import { configNames, type KnownProject, type Meanings, requestOf } from './project-requests.ts';
import * as model from './project-world.ts';

/** Requests about the experiments of a project, each drawn when it is sent. */
export function experimentRequests(
  ask: Ask,
  token: string,
  project: KnownProject,
  random: () => number,
): (() => Request | undefined)[] {
  const { world, experiments } = project;
  const ofOne =
    (draw: (id: string, path: { project_id: string; experiment_id: string }) => Request) => () => {
      if (project.id === undefined || experiments.size === 0) return undefined;
      const id = pick(random, [...experiments]);
      return draw(id, { project_id: project.id, experiment_id: id });
    };
  const gone = (id: string) => () => [[model.isNoExperiment(id)]];

  return [
    () => {
      if (project.id === undefined) return undefined;
      const config = pick(random, configNames);
      const meanings: Meanings = {
        200: ({ experiment_id, config_version, status }) => {
          experiments.add(experiment_id);
          return [
            [model.isConfig(config, config_version)],
            [model.begun(experiment_id)],
            [model.hasStatus(experiment_id, status)],
          ];
        },
        404: () => [[model.isNoConfig(config)]],
      };
      const path = { project_id: project.id };
      return requestOf(project, `train with ${config} of ${world.name}`, meanings, () =>
        ask(trainProject, { path, query: { config }, token }),
      );
    },
    ofOne((id, path) => {
      const meanings: Meanings = {
        200: ({ status }) => [[model.cancelRequested(id)], [model.hasStatus(id, status)]],
        404: () => [[model.cancelRequested(id)], [model.isNoExperiment(id)]],
      };
      return requestOf(project, `cancel ${id}`, meanings, () => ask(cancelExperiment, { path, token }));
    }),
    ofOne((id, path) => {
      const meanings: Meanings = {
        200: ({ experiment_id, status }) => {
          experiments.add(experiment_id);
          return [
            [model.hasStatus(id, 'CANCELLED')],
            [model.begun(experiment_id)],
            [model.hasStatus(experiment_id, status)],
          ];
        },
        404: gone(id),
        409: () => [[model.isUnfinished(id)]],
      };
      return requestOf(project, `rerun ${id}`, meanings, () => ask(rerunExperiment, { path, token }));
    }),
    ofOne((id, path) => {
      const meanings: Meanings = { 200: ({ status }) => [[model.hasStatus(id, status)]], 404: gone(id) };
      return requestOf(project, `read ${id}`, meanings, () => ask(readExperiment, { path, token }));
    }),
    ofOne((id, path) => {
      const meanings: Meanings = {
        200: () => [[model.experimentDeleted(id)]],
        404: gone(id),
        409: () => [[model.isUnfinished(id)]],
      };
      return requestOf(project, `delete ${id}`, meanings, () => ask(deleteExperiment, { path, token }));
    }),
    () => {
      if (project.id === undefined) return undefined;
      const path = { project_id: project.id };
      const known = [...experiments];
      const meanings: Meanings = {
        200: (listed: { experiment_id: string; status: string }[]) => [
          known.map((id) => {
            const found = listed.find(({ experiment_id }) => experiment_id === id);
            return found === undefined ? model.isNoExperiment(id) : model.hasStatus(id, found.status);
          }),
        ],
        404: () => [[model.isNoProject]],
      };
      return requestOf(project, `experiments of ${world.name}`, meanings, () =>
        ask(listExperiments, { path, token }),
      );
    },
  ];
}
