import * as z from 'zod';
import {
  archived,
  latestOf,
  putRegisteredModel,
  removeModelVersion,
} from '../../data/models/registered-model.ts';
import { retryOnConflict } from '../../data/table/retry-on-conflict.ts';
import { mlflowError } from '../protocol/mlflow-error.ts';
import { type Route, route } from '../protocol/route.ts';
import { text } from '../protocol/scalars.ts';
import { createVersion } from './create-version.ts';
import {
  allVersions,
  changeRegistered,
  changeVersion,
  numberOf,
  requireOwn,
  requireRegistered,
  requireVersion,
} from './find.ts';
import { description, knownName, tag } from './rules.ts';
import { searchVersions } from './search-registered.ts';
import { showVersion } from './show.ts';
import { stageOf } from './stages.ts';

const version = text.min(1);

const get = route(
  'GET mlflow/model-versions/get',
  z.object({ name: knownName, version }),
  async (input, context) => {
    const model = await requireRegistered(context, input.name);
    return {
      model_version: showVersion(model, await requireVersion(context, model, numberOf(input.version))),
    };
  },
);

const downloadUri = route(
  'GET mlflow/model-versions/get-download-uri',
  z.object({ name: knownName, version }),
  async (input, context) => {
    const model = await requireRegistered(context, input.name);
    return { artifact_uri: (await requireVersion(context, model, numberOf(input.version))).location };
  },
);

const update = route(
  'PATCH mlflow/model-versions/update',
  z.object({ name: knownName, version, description }),
  async (input, context) => {
    const changed = await changeVersion(context, input.name, input.version, () => ({
      description: input.description,
    }));
    return { model_version: showVersion(changed.model, changed.version) };
  },
);

const setTag = route(
  'POST mlflow/model-versions/set-tag',
  z.object({ name: knownName, version, ...tag.shape }),
  async ({ name, version: number, key, value }, context) => {
    await changeVersion(context, name, number, (present) => ({ tags: { ...present.tags, [key]: value } }));
    return {};
  },
);

const deleteTag = route(
  'DELETE mlflow/model-versions/delete-tag',
  z.object({ name: knownName, version, key: text.min(1) }),
  async ({ name, version: number, key }, context) => {
    await changeVersion(context, name, number, (present) => {
      const { [key]: _, ...others } = present.tags;
      return { tags: others };
    });
    return {};
  },
);

const remove = route(
  'DELETE mlflow/model-versions/delete',
  z.object({ name: knownName, version }),
  async (input, context) => {
    const { records, now } = context;
    return retryOnConflict(async () => {
      const present = await requireOwn(context, input.name);
      const gone = await requireVersion(context, present, numberOf(input.version));
      const rest = (await allVersions(context, present.registration_id)).filter(
        ({ number }) => number !== gone.number,
      );
      const aliases = Object.fromEntries(
        Object.entries(present.aliases).filter(([, number]) => number !== gone.number),
      );
      const updated_at = now().toISOString();
      const model = { ...present, aliases, latest: latestOf(rest), updated_at, version: present.version + 1 };
      await records.write(putRegisteredModel(model, present), removeModelVersion(gone));
      return {};
    });
  },
);

const transition = route(
  'POST mlflow/model-versions/transition-stage',
  z.object({
    name: knownName,
    version,
    stage: text.min(1),
    archive_existing_versions: z.boolean().default(false),
  }),
  async (input, { now, ...others }) => {
    // Versions that are archived for another one change at its moment.
    const at = now();
    const context = { ...others, now: () => at };
    const stage = stageOf(input.stage);
    const replaced = input.archive_existing_versions ? stage : undefined;
    if (replaced !== undefined && !['Staging', 'Production'].includes(replaced))
      throw mlflowError(
        'INVALID_PARAMETER_VALUE',
        `Model version transition cannot archive existing model versions because '${input.stage}' is not an Active stage. Valid stages are Staging, Production`,
      );
    const changed = await changeVersion(context, input.name, input.version, () => ({ stage }));
    const versions = await allVersions(context, changed.model.registration_id);
    for (const { number, stage: present } of versions) {
      if (number !== changed.version.number && present === replaced)
        await changeVersion(context, input.name, String(number), () => ({ stage: archived }));
    }
    const model = await changeRegistered(context, input.name, async ({ registration_id }) => ({
      latest: latestOf(await allVersions(context, registration_id)),
    }));
    return { model_version: showVersion(model, changed.version) };
  },
);

export const versionRoutes: readonly Route[] = [
  createVersion,
  get,
  downloadUri,
  update,
  setTag,
  deleteTag,
  remove,
  transition,
  searchVersions,
];
