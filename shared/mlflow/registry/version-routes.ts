import * as z from 'zod';
import { tryParseJson } from '../../core/text/try-parse-json.ts';
import type { LoggedModel } from '../../data/experiments/logged-model.ts';
import { isPlainAddress, isRemoteAddress } from '../../data/experiments/logged-model-rules.ts';
import { versionsTag } from '../../data/experiments/tracking-rules.ts';
import { noticeWrites } from '../../data/hooks/notice.ts';
import {
  archived,
  latestOf,
  type ModelVersion,
  noStage,
  putModelVersion,
  putRegisteredModel,
  removeModelVersion,
} from '../../data/models/registered-model.ts';
import { retryOnConflict } from '../../data/table/retry-on-conflict.ts';
import type { Write } from '../../data/table/table.ts';
import { changedModel, modelFilesUri, requireModel } from '../logged-models/logged-model.ts';
import type { MlflowContext } from '../protocol/context.ts';
import { findModelKey, findRunKey, runIdOf } from '../protocol/ids.ts';
import { invalidValue, mlflowError } from '../protocol/mlflow-error.ts';
import { allowing, type Route, route } from '../protocol/route.ts';
import { text } from '../protocol/scalars.ts';
import {
  allVersions,
  changeRegistered,
  changeVersion,
  numberOf,
  requireOwn,
  requireRegistered,
  requireRegistryRoom,
  requireVersion,
} from './find.ts';
import { description, knownName, tag, tagRecord, tags } from './rules.ts';
import { searchVersions } from './search-registered.ts';
import { showVersion, stageOf } from './show.ts';

const createVersion = route(
  'POST mlflow/model-versions/create',
  z.object({
    name: knownName,
    source: text.min(1),
    run_id: text.default(''),
    run_link: text.default(''),
    model_id: text.default(''),
    description,
    tags,
  }),
  async (input, context) => {
    const location = await locationOf(context, input.source);
    const { records, now, caller } = context;
    const made = await retryOnConflict(async () => {
      const logged =
        input.model_id === '' ? undefined : await requireModel(context, input.model_id, 'developer');
      const present = await requireOwn(context, input.name);
      const at = now().toISOString();
      const version: ModelVersion = {
        registration_id: present.registration_id,
        number: present.versions + 1,
        description: input.description,
        user_id: caller.user_id,
        username: caller.username,
        source: input.source,
        location,
        run_id: input.run_id || runOf(logged),
        run_link: input.run_link,
        model_id: input.model_id,
        stage: noStage,
        tags: tagRecord(input.tags),
        created_at: at,
        updated_at: at,
        version: 1,
      };
      requireRegistryRoom(version);
      const model = {
        ...present,
        versions: version.number,
        latest: { ...present.latest, [noStage]: version.number },
        updated_at: at,
        version: present.version + 1,
      };
      const told = await versionNotices(context, model.name, version);
      await records.write(
        putRegisteredModel(model, present),
        putModelVersion(version, undefined),
        ...told,
        ...(logged === undefined ? [] : [noteVersion(logged, model.name, version.number, now())]),
      );
      return { model, version };
    });
    return { model_version: showVersion(made.model, made.version) };
  },
);

/** Build the write that tells the hooks of the project whose run made a version. Return none without such a run. */
async function versionNotices(
  { records, now }: MlflowContext,
  name: string,
  { registration_id, number, source, run_id }: ModelVersion,
): Promise<Write[]> {
  const run = findRunKey(run_id);
  if (run === undefined) return [];
  const { project_id, experiment_id } = run;
  const facts = { name, version: number, source, run_id, experiment_id };
  return noticeWrites(records, { type: 'model.version', project_id, subject: registration_id, facts }, now());
}

const version = text.min(1);

/** The run that made a logged model. Clients may omit it from their request. */
const runOf = (logged: LoggedModel | undefined): string =>
  logged === undefined || logged.source_experiment_id === null
    ? ''
    : runIdOf({ project_id: logged.project_id, experiment_id: logged.source_experiment_id });

/** The write that adds a version to the versions tag of its logged model. */
const noteVersion = (logged: LoggedModel, name: string, version: number, now: Date): Write => {
  const listed = [...listedIn(logged.tags[versionsTag]), { name, version }];
  const tags = { ...logged.tags, [versionsTag]: JSON.stringify(listed) };
  return changedModel(logged, { tags }, now).write;
};

const Versions = z.array(z.unknown());

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
    // Archived versions get the same timestamp as the new one.
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
  ...allowing('read', [get, downloadUri, searchVersions], false),
  createVersion,
  update,
  setTag,
  deleteTag,
  remove,
  transition,
];

/**
 * Return the location of a version's files: those of a logged model, of another version, or at a URI from the
 * client.
 * @throws ServiceError `INVALID_PARAMETER_VALUE` for a path on the client's own disk
 */
async function locationOf(context: MlflowContext, source: string): Promise<string> {
  const [, model_id] = /^models:\/(m-[^/]+)$/.exec(source) ?? [];
  const key = model_id === undefined ? undefined : findModelKey(model_id);
  if (key !== undefined && model_id !== undefined) {
    return modelFilesUri(await requireModel(context, model_id, 'viewer'));
  }
  const [, name, number] = /^models:\/([^/]+)\/(\d+)$/.exec(source) ?? [];
  if (name !== undefined && number !== undefined) {
    const model = await requireRegistered(context, decodeURIComponent(name));
    return (await requireVersion(context, model, numberOf(number))).location;
  }
  if (!isRemoteAddress(source))
    throw mlflowError(
      'INVALID_PARAMETER_VALUE',
      `Invalid model version source: '${source}'. To use a local path as a model version source, log the model to this server first.`,
    );
  if (!isPlainAddress(source))
    throw invalidValue('source', source, 'Invalid model version source: it must be a plain address.');
  return source;
}

/** Return the versions in the tag of a logged model; an empty list if a client wrote another value there. */
const listedIn = (tag = ''): unknown[] => Versions.safeParse(tryParseJson(tag)).data ?? [];
