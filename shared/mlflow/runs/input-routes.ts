import * as z from 'zod';
import { listExperiments } from '../../data/experiments/experiment.ts';
import { contextTag } from '../../data/experiments/experiment-row.ts';
import {
  type DatasetInput,
  type ExperimentFields,
  type ModelLink,
  readTrackingOf,
} from '../../data/experiments/tracking.ts';
import {
  DatasetFields,
  DatasetTagName,
  DatasetTagValue,
  historyTag,
  maxLinks,
} from '../../data/experiments/tracking-rules.ts';
import { moveTexts } from '../../experiments/dataset-texts.ts';
import { requireExperimentProject } from '../projects/find-project.ts';
import type { MlflowContext } from '../protocol/context.ts';
import { invalidValue, mlflowError } from '../protocol/mlflow-error.ts';
import { type Route, route } from '../protocol/route.ts';
import { exactStep, keyAndValue, text } from '../protocol/scalars.ts';
import { changeRun } from './change-run.ts';
import { requireRun, runIdField } from './find-run.ts';

const sentDataset = z.object({
  tags: z
    .array(
      keyAndValue.extend({ key: text.pipe(DatasetTagName), value: text.pipe(DatasetTagValue).default('') }),
    )
    .default([]),
  dataset: z.object(DatasetFields),
});

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
    const change = async (present: ExperimentFields): Promise<ExperimentFields> => {
      const inputs = joined(present.datasets, datasets.map(datasetOf), byDigest);
      return {
        ...present,
        ...(datasets.length > 0 && { datasets: await moveTexts(context.objects, experiment, inputs) }),
        ...(read.length > 0 && { models_read: joined(present.models_read, read, byModel) }),
      };
    };
    await changeRun(context, experiment, change, undefined, 'datasets');
    return {};
  },
);

const datasetOf = ({ tags, dataset }: z.output<typeof sentDataset>): DatasetInput => {
  const { schema, profile, ...known } = dataset;
  return {
    ...known,
    ...(schema !== undefined && { schema }),
    ...(profile !== undefined && { profile }),
    tags: Object.fromEntries(tags.map(({ key, value }) => [key, value])),
  };
};

const byDigest = ({ name, digest }: DatasetInput): string => JSON.stringify([name, digest]);
const byModel = ({ model_id, step }: ModelLink): string => `${model_id} ${step}`;

const logOutputs = route(
  'POST mlflow/runs/outputs',
  z.object({
    ...runIdField,
    models: z
      .array(z.object({ model_id: text.min(1), step: exactStep.default(0) }))
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

/** Log the description of a model. Clients before 3.0 send it, and read it back from a tag of the run. */
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

export const inputRoutes: readonly Route[] = [logInputs, logOutputs, logModel];

/** Join links by identity. The link that was logged first stays. */
function joined<T>(present: readonly T[] = [], more: readonly T[], identity: (link: T) => string): T[] {
  const links = new Map([...present, ...more].toReversed().map((link) => [identity(link), link]));
  return [...links.values()].toReversed().slice(0, maxLinks);
}

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

/**
 * List the data sets that the newest runs of some experiments have read, without duplicates. MLflow's web UI
 * offers them as filters.
 */
export const searchDatasets = route(
  'POST mlflow/experiments/search-datasets',
  z.object({ experiment_ids: z.array(text.min(1)).default([]) }),
  async ({ experiment_ids }, context) => {
    if (experiment_ids.length === 0)
      throw mlflowError(
        'INVALID_PARAMETER_VALUE',
        'SearchDatasets request must specify at least one experiment_id.',
      );
    if (experiment_ids.length > maxProjects)
      throw mlflowError(
        'INVALID_PARAMETER_VALUE',
        `SearchDatasets request cannot specify more than ${maxProjects} experiment_ids. Received ${experiment_ids.length} experiment_ids.`,
      );
    const found = new Map<string, object>();
    for (const id of new Set(experiment_ids)) {
      const { project_id: experiment_id } = await requireExperimentProject(context, id, 'viewer');
      for await (const { datasets = [] } of fieldsOfRuns(context, experiment_id))
        for (const { name, digest, tags } of datasets) {
          const summary = {
            experiment_id,
            name,
            digest,
            ...(tags[contextTag] && { context: tags[contextTag] }),
          };
          found.set(JSON.stringify(summary), summary);
          if (found.size === maxDatasets) return { dataset_summaries: [...found.values()] };
        }
    }
    return { dataset_summaries: [...found.values()] };
  },
);

const maxProjects = 20;

/** Yield the fields of the newest runs that are not deleted. */
async function* fieldsOfRuns(
  { records }: MlflowContext,
  project_id: string,
): AsyncGenerator<ExperimentFields> {
  let after: string | undefined;
  let read = 0;
  do {
    const page = await listExperiments(records, project_id, { limit: runsAtOnce, after });
    const ids = page.items.map(({ experiment_id }) => experiment_id);
    for (const { fields } of (await readTrackingOf(records, project_id, ids)).of.values())
      if (fields !== undefined && fields.deleted_at === undefined) yield fields;
    read += runsAtOnce;
    after = page.next;
  } while (after !== undefined && read < maxRuns);
}

const runsAtOnce = 100;

/** Maximum number of runs to read of an experiment, newest first. Each may have 300 KB of fields. */
const maxRuns = 1000;

/** Maximum number of data sets in a response, as in MLflow's own server. */
const maxDatasets = 1000;
