import * as z from 'zod';
import { type LoggedModel, putLoggedModel } from '../../data/experiments/logged-model.ts';
import { LoggedModelName } from '../../data/experiments/logged-model-rules.ts';
import { maxParam } from '../../data/experiments/tracking-rules.ts';
import { projectExists } from '../../data/projects/project.ts';
import { retain } from '../../data/projects/purge.ts';
import { listFolder, requireSafePath } from '../artifacts/artifact-home.ts';
import { requireExperimentProject } from '../projects/find-project.ts';
import { modelIdOf } from '../protocol/ids.ts';
import { doesNotExist, invalidValue, mlflowError } from '../protocol/mlflow-error.ts';
import { allowing, type Route, route } from '../protocol/route.ts';
import { keyAndValue, shortened, text } from '../protocol/scalars.ts';
import { requireRun } from '../runs/find-run.ts';
import {
  changeModel,
  modelFilesUri,
  modelHome,
  requireModel,
  requireModelRoom,
  showModel,
} from './logged-model.ts';
import { searchModels } from './search-models.ts';

const maxPairs = 1000;
const pairs = z.array(keyAndValue).max(maxPairs).default([]);
const model_id = text.min(1);

const recordOf = (sent: readonly { key: string; value: string }[]): Record<string, string> =>
  Object.fromEntries(sent.map(({ key, value }) => [key, shortened(value, maxParam)]));

const name = text.pipe(LoggedModelName);

const create = route(
  'POST mlflow/logged-models',
  z.object({
    experiment_id: text.min(1),
    name: name.default(''),
    model_type: text.default(''),
    source_run_id: text.default(''),
    params: pairs,
    tags: pairs,
  }),
  async (input, context) => {
    const { records, caller, newId, now } = context;
    const { project_id } = await requireExperimentProject(context, input.experiment_id, 'developer');
    const source =
      input.source_run_id === '' ? undefined : await requireRun(context, input.source_run_id, 'viewer');
    if (source !== undefined && source.project.project_id !== project_id)
      throw invalidValue('source_run_id', input.source_run_id, 'is a run of another experiment');
    if (context.job !== undefined && source === undefined)
      throw invalidValue('source_run_id', '', 'a program in a job must name the run that makes a model');
    const id = newId();
    const created_at = now().toISOString();
    const model: LoggedModel = {
      model_id: id,
      project_id,
      name: input.name === '' ? `model-${id.slice(-6)}` : input.name,
      model_type: input.model_type,
      status: 'PENDING',
      source_experiment_id: source?.experiment.experiment_id ?? null,
      user_id: caller.user_id,
      // A job can only store files of experiments.
      ...(context.job !== undefined && { folder: `models/${modelIdOf({ project_id, model_id: id })}` }),
      params: recordOf(input.params),
      tags: recordOf(input.tags),
      metrics: [],
      created_at,
      updated_at: created_at,
      version: 1,
    };
    requireModelRoom(model);
    await records.write(projectExists(project_id), putLoggedModel(model, undefined));
    return { model: showModel(model) };
  },
);

const get = route(
  'GET mlflow/logged-models/{model_id}',
  z.object({ model_id, allow_deleted: text.default('false') }),
  async (input, context) => ({
    model: showModel(
      await requireModel(context, input.model_id, 'viewer', /^true$/i.test(input.allow_deleted)),
    ),
  }),
);

const statuses = [undefined, 'PENDING', 'READY', 'FAILED'] as const;
const names = {
  LOGGED_MODEL_PENDING: 'PENDING',
  LOGGED_MODEL_READY: 'READY',
  LOGGED_MODEL_UPLOAD_FAILED: 'FAILED',
} as const;
const status = z.union([
  z
    .enum(['LOGGED_MODEL_PENDING', 'LOGGED_MODEL_READY', 'LOGGED_MODEL_UPLOAD_FAILED'])
    .transform((one) => names[one]),
  z
    .number()
    .int()
    .min(1)
    .max(3)
    .transform((number) => statuses[number] ?? 'PENDING'),
]);

const finalize = route(
  'PATCH mlflow/logged-models/{model_id}',
  z.object({ model_id, status }),
  async (input, context) => {
    const model = await requireModel(context, input.model_id, 'developer');
    return { model: showModel(await changeModel(context, model, () => ({ status: input.status }))) };
  },
);

const remove = route(
  'DELETE mlflow/logged-models/{model_id}',
  z.object({ model_id }),
  async (input, context) => {
    const model = await requireModel(context, input.model_id, 'developer');
    const { project_id, model_id } = model;
    const deleted_at = context.now().toISOString();
    await context.records.write(...retain({ project_id, experiment_id: null, model_id, deleted_at }));
    await changeModel(context, model, () => ({ deleted_at }));
    return {};
  },
);

const logParams = route(
  'POST mlflow/logged-models/{model_id}/params',
  z.object({ model_id, params: pairs }),
  async (input, context) => {
    const model = await requireModel(context, input.model_id, 'developer');
    await changeModel(context, model, ({ params }) => {
      const known = new Map(Object.entries(params));
      const changed = input.params.find(
        ({ key, value }) => known.has(key) && known.get(key) !== shortened(value, maxParam),
      );
      if (changed !== undefined)
        throw mlflowError('INVALID_PARAMETER_VALUE', `Changing param values is not allowed: ${changed.key}`);
      return { params: { ...params, ...recordOf(input.params) } };
    });
    return {};
  },
);

const setTags = route(
  'PATCH mlflow/logged-models/{model_id}/tags',
  z.object({ model_id, tags: pairs }),
  async (input, context) => {
    const model = await requireModel(context, input.model_id, 'developer');
    await changeModel(context, model, ({ tags }) => ({ tags: { ...tags, ...recordOf(input.tags) } }));
    return {};
  },
);

const deleteTag = route(
  'DELETE mlflow/logged-models/{model_id}/tags/{tag_key}',
  z.object({ model_id, tag_key: text.min(1) }),
  async (input, context) => {
    const model = await requireModel(context, input.model_id, 'developer');
    await changeModel(context, model, ({ tags }) => {
      if (!Object.hasOwn(tags, input.tag_key))
        throw doesNotExist(`No tag with key ${input.tag_key} found for model with ID ${input.model_id}.`);
      const { [input.tag_key]: _, ...others } = tags;
      return { tags: others };
    });
    return {};
  },
);

const listFiles = route(
  'GET mlflow/logged-models/{model_id}/artifacts/directories',
  z.object({ model_id, artifact_directory_path: text.default('') }),
  async (input, context) => {
    const model = await requireModel(context, input.model_id, 'viewer');
    const path = input.artifact_directory_path === '' ? '' : requireSafePath(input.artifact_directory_path);
    const { home, path: root } = modelHome(model);
    const below = [root, path].filter((part) => part !== '').join('/');
    const entries = await listFolder(context, { home, path: below });
    return {
      files: entries.map(({ name: entry, size }) => ({
        path: path === '' ? entry : `${path}/${entry}`,
        is_dir: size === null,
        ...(size !== null && { file_size: size }),
      })),
      root_uri: modelFilesUri(model),
    };
  },
);

/** Routes on one model that remove nothing. */
export const oneModelRoutes: readonly Route[] = [
  create,
  get,
  finalize,
  logParams,
  setTags,
  deleteTag,
  listFiles,
];

export const modelRoutes: readonly Route[] = [
  ...allowing('read', [searchModels, get, listFiles]),
  ...allowing('record', [create, finalize, logParams, setTags, deleteTag]),
  remove,
];
