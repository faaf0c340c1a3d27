import * as z from 'zod';
import type { LoggedModel } from '../../data/experiments/logged-model.ts';
import {
  type ModelVersion,
  noStage,
  putModelVersion,
  putRegisteredModel,
} from '../../data/models/registered-model.ts';
import { isPlainAddress, isRemoteAddress } from '../../data/rules/model.ts';
import { versionsTag } from '../../data/rules/tracked.ts';
import { retryOnConflict } from '../../data/table/retry-on-conflict.ts';
import type { Write } from '../../data/table/table.ts';
import { changedModel, modelFilesUri, requireModel } from '../logged-models/logged-model.ts';
import type { MlflowContext } from '../protocol/context.ts';
import { findModelKey, runIdOf } from '../protocol/ids.ts';
import { invalidValue, mlflowError } from '../protocol/mlflow-error.ts';
import { route } from '../protocol/route.ts';
import { text } from '../protocol/scalars.ts';
import { numberOf, requireOwn, requireRegistered, requireRegistryRoom, requireVersion } from './find.ts';
import { description, knownName, tagRecord, tags } from './rules.ts';
import { showVersion } from './show.ts';

/**
 * Where the files of a version are: those of a logged model, of another version, or what its client names.
 * @throws ServiceError `INVALID_PARAMETER_VALUE` for a path of the client's own disk
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

const Versions = z.array(z.unknown());

/** The versions that the tag of a logged model lists; none where somebody has written something else there. */
function listedIn(tag: string | undefined): unknown[] {
  try {
    return Versions.parse(JSON.parse(tag ?? '[]'));
  } catch {
    return [];
  }
}

/** The write that lists a version in the tag of the logged model that it is of. */
const noteVersion = (logged: LoggedModel, name: string, version: number, now: Date): Write => {
  const listed = [...listedIn(logged.tags[versionsTag]), { name, version }];
  const tags = { ...logged.tags, [versionsTag]: JSON.stringify(listed) };
  return changedModel(logged, { tags }, now).write;
};

/** The run that made a logged model, which clients may leave out. */
const runOf = (logged: LoggedModel | undefined): string =>
  logged === undefined || logged.source_experiment_id === null
    ? ''
    : runIdOf({ project_id: logged.project_id, experiment_id: logged.source_experiment_id });

export const createVersion = route(
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
      await records.write(
        putRegisteredModel(model, present),
        putModelVersion(version, undefined),
        ...(logged === undefined ? [] : [noteVersion(logged, model.name, version.number, now())]),
      );
      return { model, version };
    });
    return { model_version: showVersion(made.model, made.version) };
  },
);
