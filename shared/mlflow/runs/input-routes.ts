import * as z from 'zod';
import type { DatasetInput, ModelLink } from '../../data/experiments/tracking.ts';
import {
  DatasetFields,
  DatasetTagName,
  DatasetTagValue,
  historyTag,
  maxLinks,
} from '../../data/rules/tracked.ts';
import { invalidValue, mlflowError } from '../protocol/mlflow-error.ts';
import { type Route, route } from '../protocol/route.ts';
import { int64, keyAndValue, text } from '../protocol/scalars.ts';
import { changeRun } from './change-run.ts';
import { requireRun } from './find-run.ts';
import { runIdField } from './run-id-field.ts';

const sentDataset = z.object({
  tags: z
    .array(
      keyAndValue.extend({ key: text.pipe(DatasetTagName), value: text.pipe(DatasetTagValue).default('') }),
    )
    .default([]),
  dataset: z.object(DatasetFields),
});

const datasetOf = ({ tags, dataset }: z.output<typeof sentDataset>): DatasetInput => {
  const { schema, profile, ...known } = dataset;
  return {
    ...known,
    ...(schema !== undefined && { schema }),
    ...(profile !== undefined && { profile }),
    tags: Object.fromEntries(tags.map(({ key, value }) => [key, value])),
  };
};

/** The links with those of further ones that have another identity: what was logged first stays. */
function joined<T>(present: readonly T[] = [], more: readonly T[], identity: (link: T) => string): T[] {
  const links = new Map([...present, ...more].toReversed().map((link) => [identity(link), link]));
  return [...links.values()].toReversed().slice(0, maxLinks);
}
const byDigest = ({ name, digest }: DatasetInput): string => JSON.stringify([name, digest]);
const byModel = ({ model_id, step }: ModelLink): string => `${model_id} ${step}`;

const logInputs = route(
  'POST mlflow/runs/log-inputs',
  z.object({
    ...runIdField,
    datasets: z.array(sentDataset).max(maxLinks).default([]),
    models: z
      .array(z.object({ model_id: text.min(1) }))
      .max(maxLinks)
      .default([]),
  }),
  async ({ run_id, datasets, models }, context) => {
    const { experiment } = await requireRun(context, run_id, 'developer');
    const read = models.map(({ model_id }) => ({ model_id, step: 0 }));
    await changeRun(context, experiment, (present) => ({
      ...present,
      ...(datasets.length > 0 && { datasets: joined(present.datasets, datasets.map(datasetOf), byDigest) }),
      ...(read.length > 0 && { models_read: joined(present.models_read, read, byModel) }),
    }));
    return {};
  },
);

const logOutputs = route(
  'POST mlflow/runs/outputs',
  z.object({
    ...runIdField,
    models: z
      .array(z.object({ model_id: text.min(1), step: int64.default(0) }))
      .max(maxLinks)
      .default([]),
  }),
  async ({ run_id, models }, context) => {
    const { experiment } = await requireRun(context, run_id, 'developer');
    await changeRun(context, experiment, (present) => ({
      ...present,
      models_made: joined(present.models_made, models, byModel),
    }));
    return {};
  },
);

/** What clients before 3.0 send with a model: its description, which the run keeps as they expect it. */
const logModel = route(
  'POST mlflow/runs/log-model',
  z.object({ ...runIdField, model_json: text.min(1) }),
  async ({ run_id, model_json }, context) => {
    const { experiment } = await requireRun(context, run_id, 'developer');
    const model = parsedModel(model_json);
    await changeRun(context, experiment, (present) => {
      const history = [...parsedHistory(present.tags[historyTag]), model];
      return { ...present, tags: { ...present.tags, [historyTag]: JSON.stringify(history) } };
    });
    return {};
  },
);

const missing = ['artifact_path', 'flavors', 'utc_time_created', 'run_id'];

function parsedModel(json: string): object {
  let model: unknown;
  try {
    model = JSON.parse(json);
  } catch {
    throw invalidValue('model_json', json.slice(0, 100), 'it is not valid JSON');
  }
  if (typeof model !== 'object' || model === null || Array.isArray(model))
    throw invalidValue('model_json', json.slice(0, 100), 'it is not a JSON object');
  const absent = missing.filter((name) => !Object.hasOwn(model, name));
  if (absent.length === 0) return model;
  throw mlflowError(
    'INVALID_PARAMETER_VALUE',
    `Model json is missing mandatory fields: ${absent.join(', ')}`,
  );
}

function parsedHistory(tag: string | undefined): unknown[] {
  try {
    const history: unknown = JSON.parse(tag ?? '[]');
    return Array.isArray(history) ? history : [];
  } catch {
    return [];
  }
}

export const inputRoutes: readonly Route[] = [logInputs, logOutputs, logModel];
