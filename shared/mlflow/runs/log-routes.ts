import * as z from 'zod';
import type { Experiment } from '../../data/experiments/experiment.ts';
import { logPoints, type PointsRead, readBeforePoints } from '../../data/experiments/log-points.ts';
import { readAhead } from '../../data/table/table.ts';
import { noteModelMetrics } from '../logged-models/model-metrics.ts';
import { noteTag } from '../projects/show-experiment.ts';
import { isOwnRun, type MlflowContext } from '../protocol/context.ts';
import { runIdOf, runKeyOf } from '../protocol/ids.ts';
import { mlflowError } from '../protocol/mlflow-error.ts';
import { namedValue } from '../protocol/name-rules.ts';
import { type Route, route } from '../protocol/route.ts';
import { text } from '../protocol/scalars.ts';
import { changeRun, logFields, readFieldsAhead } from './change-run.ts';
import { requireActiveRun, requireRun } from './find-run.ts';
import { inTurn } from './in-turn.ts';
import { measuredOf, pointsOf, type SentMetric, sentMetric, sentMetrics } from './metric-rules.ts';
import { runIdField } from './run-id-field.ts';
import { runNameTag } from './show-run.ts';

/** A route that logs to a run, after those that do so already. */
const logging = <S extends z.ZodObject<typeof runIdField>>(
  call: `POST ${string}`,
  schema: S,
  handle: (input: z.output<S>, context: MlflowContext) => Promise<object>,
): Route => route(call, schema, (input, context) => inTurn(input.run_id, () => handle(input, context)));

/** Limits of MLflow's own server for one request. */
const maxMetrics = 1000;
const maxPairs = 100;
const maxEntities = 1000;

const atMost = (what: string, most: number) =>
  `A batch logging request can contain at most ${most} ${what}. Please split up ${what} across multiple requests and try again.`;

async function logMetrics(
  context: MlflowContext,
  experiment: Experiment,
  metrics: readonly SentMetric[],
  read?: () => Promise<PointsRead>,
): Promise<void> {
  if (metrics.length === 0) return;
  const { job } = context;
  const own = job !== undefined && isOwnRun(context, experiment) ? job : undefined;
  if (experiment.kind !== 'logged' && own === undefined)
    throw mlflowError(
      'INVALID_PARAMETER_VALUE',
      'The metrics of a training are those that its job writes to METRICS_FILE, or logs from within.',
    );
  const noteOfModels = await noteModelMetrics(context, measuredOf(metrics, runIdOf(experiment)));
  const points = pointsOf(metrics);
  await (own?.logPoints(points) ?? logPoints(context.records, experiment, points, read));
  await noteOfModels();
}

/** Begin to read what points need, beside what tells whether the caller may log them. */
function readPointsAhead(context: MlflowContext, run_id: string): (() => Promise<PointsRead>) | undefined {
  const key = runKeyOf(run_id);
  return isOwnRun(context, key) ? undefined : readAhead(() => readBeforePoints(context.records, key));
}

const logMetric = logging(
  'POST mlflow/runs/log-metric',
  z.object({ ...runIdField, ...sentMetric.shape }),
  async (input, context) => {
    const read = readPointsAhead(context, input.run_id);
    const { experiment } = await requireActiveRun(context, input.run_id);
    await logMetrics(context, experiment, [input], read);
    return {};
  },
);

const logParameter = logging(
  'POST mlflow/runs/log-parameter',
  z.object({ ...runIdField, ...namedValue.shape }),
  async (input, context) => {
    const read = readFieldsAhead(context, runKeyOf(input.run_id));
    const { experiment } = await requireRun(context, input.run_id, 'developer');
    await logFields(context, experiment, { params: [input] }, read);
    return {};
  },
);

const setTag = logging(
  'POST mlflow/runs/set-tag',
  z.object({ ...runIdField, ...namedValue.shape }),
  async (input, context) => {
    const read = readFieldsAhead(context, runKeyOf(input.run_id));
    const { experiment } = await requireRun(context, input.run_id, 'developer');
    await logFields(context, experiment, { tags: [input] }, read);
    return {};
  },
);

const deleteTag = logging(
  'POST mlflow/runs/delete-tag',
  z.object({ ...runIdField, key: text.min(1) }),
  async ({ run_id, key }, context) => {
    const { experiment } = await requireRun(context, run_id, 'developer');
    // A run is never without its name.
    if (key === runNameTag) return {};
    await changeRun(context, experiment, (present) => {
      if (key === noteTag && present.note !== null) return { ...present, note: null };
      if (!Object.hasOwn(present.tags, key))
        throw mlflowError('RESOURCE_DOES_NOT_EXIST', `No tag with name: ${key} in run with id ${run_id}`);
      const { [key]: _, ...tags } = present.tags;
      return { ...present, tags };
    });
    return {};
  },
);

const batch = z
  .object({
    ...runIdField,
    metrics: sentMetrics(maxMetrics, atMost('metrics', maxMetrics)).default([]),
    params: z.array(namedValue).max(maxPairs, atMost('params', maxPairs)).default([]),
    tags: z.array(namedValue).max(maxPairs, atMost('tags', maxPairs)).default([]),
  })
  .refine(
    ({ metrics, params, tags }) => metrics.length + params.length + tags.length <= maxEntities,
    atMost('metrics, params, and tags', maxEntities),
  );

function requireUniqueParams(params: readonly { key: string; value: string }[]): void {
  const seen = new Set<string>();
  const repeated = params.filter(({ key }) => seen.has(key) || !seen.add(key));
  if (repeated.length === 0) return;
  const keys = repeated.map(({ key }) => `'${key}'`).join(', ');
  throw mlflowError(
    'INVALID_PARAMETER_VALUE',
    `Duplicate parameter keys have been submitted: [${keys}]. Please ensure the request contains only one param value per param key.`,
  );
}

const logBatch = logging('POST mlflow/runs/log-batch', batch, async (input, context) => {
  const { run_id, metrics, params, tags } = input;
  requireUniqueParams(params);
  const hasFields = params.length + tags.length > 0;
  const readFields = hasFields ? readFieldsAhead(context, runKeyOf(run_id)) : undefined;
  const readPoints = metrics.length > 0 ? readPointsAhead(context, run_id) : undefined;
  const { experiment } = await (hasFields
    ? requireRun(context, run_id, 'developer')
    : requireActiveRun(context, run_id));
  if (hasFields) await logFields(context, experiment, { params, tags }, readFields);
  await logMetrics(context, experiment, metrics, readPoints);
  return {};
});

export const logRoutes: readonly Route[] = [logMetric, logParameter, setTag, deleteTag, logBatch];
