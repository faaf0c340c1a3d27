import * as z from 'zod';
import {
  findModelVersions,
  findRegisteredModel,
  modelVersions,
  putRegisteredModel,
  type RegisteredModel,
  removeRegisteredModel,
  versionsPrefix,
} from '../../data/models/registered-model.ts';
import { newPurge, recordPurge } from '../../data/projects/purge.ts';
import { retryOnConflict } from '../../data/table/retry-on-conflict.ts';
import { ConditionFailedError } from '../../data/table/write-label.ts';
import { purgeInRequest } from '../../purge/purge-in-request.ts';
import { requireDeveloper } from '../protocol/context.ts';
import { doesNotExist, mlflowError } from '../protocol/mlflow-error.ts';
import { allowing, type Route, route } from '../protocol/route.ts';
import { text } from '../protocol/scalars.ts';
import {
  changeRegistered,
  numberOf,
  requireOwn,
  requireRegistered,
  requireRegistryRoom,
  requireVersion,
} from './find.ts';
import { alias, description, knownName, modelName, tag, tagRecord, tags } from './rules.ts';
import { searchRegistered } from './search-registered.ts';
import { showRegistered, showVersion, stageOf } from './show.ts';

const exists = (name: string) =>
  mlflowError('RESOURCE_ALREADY_EXISTS', `Registered Model (name=${name}) already exists.`);

const create = route(
  'POST mlflow/registered-models/create',
  z.object({ name: modelName, description, tags }),
  async (input, context) => {
    requireDeveloper(context);
    const { records, newId, now, caller } = context;
    const at = now().toISOString();
    const model: RegisteredModel = {
      registration_id: newId(),
      name: input.name,
      description: input.description,
      owner_id: caller.user_id,
      tags: tagRecord(input.tags),
      aliases: {},
      latest: {},
      versions: 0,
      created_at: at,
      updated_at: at,
      version: 1,
    };
    requireRegistryRoom(model);
    await records.write(putRegisteredModel(model, undefined)).catch((error: unknown) => {
      throw error instanceof ConditionFailedError ? exists(input.name) : error;
    });
    const [registered_model] = await showRegistered(context, [model]);
    return { registered_model };
  },
);

const get = route(
  'GET mlflow/registered-models/get',
  z.object({ name: knownName }),
  async ({ name }, context) => {
    const [registered_model] = await showRegistered(context, [await requireRegistered(context, name)]);
    return { registered_model };
  },
);

const rename = route(
  'POST mlflow/registered-models/rename',
  z.object({ name: knownName, new_name: modelName }),
  async ({ name, new_name }, context) => {
    const { records, now } = context;
    const next = await retryOnConflict(async () => {
      const present = await requireOwn(context, name);
      if ((await findRegisteredModel(records, new_name)) !== undefined) throw exists(new_name);
      const { archived_name: _, ...kept } = present;
      const renamed = {
        ...kept,
        name: new_name,
        updated_at: now().toISOString(),
        version: present.version + 1,
      };
      // Versions refer to their model by its id, which a rename does not change.
      await records.write(removeRegisteredModel(present), putRegisteredModel(renamed, undefined));
      return renamed;
    });
    const [registered_model] = await showRegistered(context, [next]);
    return { registered_model };
  },
);

const update = route(
  'PATCH mlflow/registered-models/update',
  z.object({ name: knownName, description }),
  async (input, context) => {
    const model = await changeRegistered(context, input.name, () => ({ description: input.description }));
    const [registered_model] = await showRegistered(context, [model]);
    return { registered_model };
  },
);

const remove = route(
  'DELETE mlflow/registered-models/delete',
  z.object({ name: knownName }),
  async ({ name }, context) => {
    const purge = await retryOnConflict(async () => {
      const model = await requireOwn(context, name);
      const versions = { pk: modelVersions, prefix: versionsPrefix(model.registration_id) };
      const recorded = newPurge(context, { partitions: [versions], prefixes: [] });
      await context.records.write(removeRegisteredModel(model), recordPurge(recorded));
      return recorded;
    });
    await purgeInRequest(context, purge);
    return {};
  },
);

const setTag = route(
  'POST mlflow/registered-models/set-tag',
  z.object({ name: knownName, ...tag.shape }),
  async ({ name, key, value }, context) => {
    await changeRegistered(context, name, (model) => ({ tags: { ...model.tags, [key]: value } }));
    return {};
  },
);

const deleteTag = route(
  'DELETE mlflow/registered-models/delete-tag',
  z.object({ name: knownName, key: text.min(1) }),
  async ({ name, key }, context) => {
    await changeRegistered(context, name, (model) => {
      const { [key]: _, ...others } = model.tags;
      return { tags: others };
    });
    return {};
  },
);

const setAlias = route(
  'POST mlflow/registered-models/alias',
  z.object({ name: knownName, alias, version: text.min(1) }),
  async (input, context) => {
    await changeRegistered(context, input.name, async (model) => {
      const { number } = await requireVersion(context, model, numberOf(input.version));
      return { aliases: { ...model.aliases, [input.alias]: number } };
    });
    return {};
  },
);

const deleteAlias = route(
  'DELETE mlflow/registered-models/alias',
  z.object({ name: knownName, alias: text.min(1) }),
  async (input, context) => {
    await changeRegistered(context, input.name, ({ aliases }) => {
      const { [input.alias]: _, ...others } = aliases;
      return { aliases: others };
    });
    return {};
  },
);

const getByAlias = route(
  'GET mlflow/registered-models/alias',
  z.object({ name: knownName, alias: text.min(1) }),
  async (input, context) => {
    const model = await requireRegistered(context, input.name);
    const number = model.aliases[input.alias];
    if (number === undefined)
      throw mlflowError('INVALID_PARAMETER_VALUE', `Registered model alias ${input.alias} not found.`);
    return { model_version: showVersion(model, await requireVersion(context, model, number)) };
  },
);

const latestSchema = z.object({ name: knownName, stages: z.array(text).default([]) });
const latest = (method: 'GET' | 'POST'): Route =>
  route(`${method} mlflow/registered-models/get-latest-versions`, latestSchema, async (input, context) => {
    const model = await requireRegistered(context, input.name);
    const wanted = input.stages.map(stageOf);
    const ids = Object.entries(model.latest)
      .filter(([stage]) => wanted.length === 0 || wanted.includes(stage))
      .map(([, number]) => ({ registration_id: model.registration_id, number }));
    const versions = await findModelVersions(context.records, ids);
    if (versions.length < ids.length) throw doesNotExist(`A version of ${model.name} has just been deleted.`);
    return { model_versions: versions.map((version) => showVersion(model, version)) };
  });

export const registeredRoutes: readonly Route[] = [
  // The registry belongs to no project, and a tracker does not change what is in use.
  ...allowing('read', [get, getByAlias, latest('GET'), latest('POST'), searchRegistered], false),
  create,
  rename,
  update,
  remove,
  setTag,
  deleteTag,
  setAlias,
  deleteAlias,
];
