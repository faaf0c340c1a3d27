import { findLoggedModel } from '../../../../shared/data/experiments/logged-model.ts';
import {
  findRegisteredModel,
  listModelVersions,
  modelVersions,
} from '../../../../shared/data/models/registered-model.ts';
import type { Service } from '../world/service.ts';
import { projectOf } from './recorded.ts';
import { mlflowCall, type Story, type StoryGround, told, unless } from './request-story.ts';

const name = 'trees';

/** A registered model with so many versions. */
async function registered(ground: StoryGround, versions: number): Promise<void> {
  await told(ground, mlflowCall(ground, 'POST', 'mlflow/registered-models/create', { name }));
  for (let number = 0; number < versions; number += 1)
    await told(
      ground,
      mlflowCall(ground, 'POST', 'mlflow/model-versions/create', { name, source: 's3://x/y' }),
    );
}

async function versionsOf({ records }: Service, model = name) {
  const found = await findRegisteredModel(records, model);
  const { items } = await listModelVersions(records, found?.registration_id, {});
  return { found, stages: Object.fromEntries(items.map(({ number, stage }) => [number, stage])) };
}

/** A call about the model with three versions, and what is to be of them then. */
const story = (
  what: string,
  call: Parameters<typeof mlflowCall> extends [unknown, ...infer Rest] ? Rest : never,
  faults: (service: Service) => Promise<string[]>,
  alsoAnswers: readonly number[] = [],
): Story => ({
  name: what,
  async prepare(ground) {
    await registered(ground, 3);
    await told(
      ground,
      mlflowCall(ground, 'POST', 'mlflow/registered-models/alias', { name, alias: 'best', version: '2' }),
    );
    return {
      deed: { request: mlflowCall(ground, ...call) },
      alsoAnswers,
      faults: () => faults(ground.service),
    };
  },
});

export const registryStories: readonly Story[] = [
  {
    name: 'a model is registered',
    async prepare(ground) {
      return {
        deed: { request: mlflowCall(ground, 'POST', 'mlflow/registered-models/create', { name }) },
        // It exists.
        alsoAnswers: [400],
        faults: async () => unless('versions', (await versionsOf(ground.service)).found?.versions, 0),
      };
    },
  },
  {
    name: 'a version is made of a logged model',
    async prepare(ground) {
      const { service } = ground;
      const project_id = await projectOf(ground);
      await registered(ground, 1);
      const made = await told(
        ground,
        mlflowCall(ground, 'POST', 'mlflow/logged-models', { experiment_id: project_id, name: 'tree' }),
      );
      const { model_id } = made.model.info;
      const body = { name, source: `models:/${model_id}`, model_id };
      return {
        deed: { request: mlflowCall(ground, 'POST', 'mlflow/model-versions/create', body) },
        async faults() {
          const { found, stages } = await versionsOf(service);
          const numbers = Object.keys(stages).map(Number);
          const model = await findLoggedModel(service.records, project_id, model_id.split('-').at(-1));
          const listed = JSON.parse(model?.tags['mlflow.modelVersions'] ?? '[]');
          return [
            ...unless('the count of versions', found?.versions, numbers.length),
            ...unless('the newest version', found?.latest, { None: numbers.length }),
            // A second one is the client's repetition.
            ...unless(
              'the tag',
              listed,
              numbers.slice(1).map((version) => ({ name, version })),
            ),
          ];
        },
      };
    },
  },
  story(
    'a version changes its stage and archives another',
    [
      'POST',
      'mlflow/model-versions/transition-stage',
      { name, version: '3', stage: 'Production', archive_existing_versions: true },
    ],
    async (service) => {
      const { found, stages } = await versionsOf(service);
      return [
        ...unless('stages', stages, { 1: 'None', 2: 'None', 3: 'Production' }),
        ...unless('the newest of each stage', found?.latest, { None: 2, Production: 3 }),
      ];
    },
  ),
  story(
    'a version is deleted with its alias',
    ['DELETE', 'mlflow/model-versions/delete', { name, version: '2' }],
    async (service) => {
      const { found, stages } = await versionsOf(service);
      return [
        ...unless('versions', Object.keys(stages), ['1', '3']),
        ...unless('aliases', found?.aliases, {}),
      ];
    },
    [404],
  ),
  story(
    'a registered model is renamed',
    ['POST', 'mlflow/registered-models/rename', { name, new_name: 'forest' }],
    async (service) => {
      const { found, stages } = await versionsOf(service, 'forest');
      return [
        ...unless('versions', Object.keys(stages), ['1', '2', '3']),
        ...unless('aliases', found?.aliases, { best: 2 }),
        ...unless('the former name', (await versionsOf(service)).found, undefined),
      ];
    },
    [404],
  ),
  story(
    'a registered model is deleted',
    ['DELETE', 'mlflow/registered-models/delete', { name }],
    async ({ records }) => {
      const found = await findRegisteredModel(records, name);
      const { items } = await records.query({ pk: 'PURGES' });
      const left = await records.query({ pk: modelVersions });
      const isDoomed = items.length > 0 || left.items.length === 0;
      return [...unless('the model', found, undefined), ...unless('its versions are to go', isDoomed, true)];
    },
    [404],
  ),
];
