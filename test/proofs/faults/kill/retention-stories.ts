import { findExperiment } from '../../../../shared/data/experiments/experiment.ts';
import { findLoggedModel } from '../../../../shared/data/experiments/logged-model.ts';
import { projectKey } from '../../../../shared/data/projects/project.ts';
import { pass } from '../world/pass.ts';
import { experimentIn } from './recorded.ts';
import { mlflowCall, type Story, type StoryGround, told, unless } from './request-story.ts';

const kinds = ['run', 'model', 'project'] as const;

/** A project with a run and a logged model, each with a file; and the call that marks one of them as deleted. */
async function marking(ground: StoryGround, kind: (typeof kinds)[number]) {
  const { path, run_id } = await experimentIn(ground);
  const { project_id, experiment_id } = path;
  const made = await told(
    ground,
    mlflowCall(ground, 'POST', 'mlflow/logged-models', { experiment_id: project_id, name: 'tree' }),
  );
  const id: string = made.model.info.model_id;
  for (const home of [`${run_id}/artifacts`, `models/${id}/artifacts`]) {
    const put = mlflowCall(ground, 'PUT', `mlflow-artifacts/artifacts/${project_id}/${home}/file`);
    await told(ground, { ...put, question: { ...put.question, body: 'bytes' } });
  }
  const { records } = ground.service;
  const isThere = async (): Promise<Record<(typeof kinds)[number], boolean>> => ({
    run: (await findExperiment(records, project_id, experiment_id)) !== undefined,
    model: (await findLoggedModel(records, project_id, id.split('-').at(-1) ?? '')) !== undefined,
    project: (await records.get(projectKey(project_id))) !== undefined,
  });
  const call = {
    run: mlflowCall(ground, 'POST', 'mlflow/runs/delete', { run_id }),
    model: mlflowCall(ground, 'DELETE', `mlflow/logged-models/${id}`),
    project: mlflowCall(ground, 'POST', 'mlflow/experiments/delete', { experiment_id: project_id }),
  }[kind];
  return { call, isThere };
}

const secondsUntilGone = 30.1 * 86_400;

/** Everything that goes with each of them. */
const goes = {
  run: { run: false, model: true, project: true },
  model: { run: true, model: false, project: true },
  project: { run: false, model: false, project: false },
};

export const retentionStories: readonly Story[] = kinds.flatMap((kind): Story[] => [
  {
    name: `a ${kind} is marked as deleted`,
    async prepare(ground) {
      const { call, isThere } = await marking(ground, kind);
      return {
        deed: { request: call },
        // It is marked.
        alsoAnswers: [400, 404],
        async faults() {
          const before = await isThere();
          await pass(ground.service, secondsUntilGone);
          await pass(ground.service, secondsUntilGone);
          return [
            ...unless('before its time', before, { run: true, model: true, project: true }),
            ...unless('after its time', await isThere(), goes[kind]),
          ];
        },
      };
    },
  },
  {
    name: `a ${kind} goes after its time`,
    async prepare(ground) {
      const { call, isThere } = await marking(ground, kind);
      await told(ground, call);
      return {
        deed: { passAfter: secondsUntilGone },
        faults: async () => unless('after its time', await isThere(), goes[kind]),
      };
    },
  },
]);
