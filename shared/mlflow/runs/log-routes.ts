import * as z from 'zod';
import { isoTime } from '../../core/formats.ts';
import { ServiceError } from '../../core/service-error.ts';
import type { Experiment } from '../../data/experiments/experiment.ts';
import { logPoints, type PointsRead, readBeforePoints } from '../../data/experiments/log-points.ts';
import type { ModelMetric } from '../../data/experiments/logged-model.ts';
import type { MetricPoint } from '../../data/metrics/metric-summary.ts';
import { readAhead } from '../../data/table/table.ts';
import { noteModelMetrics } from '../logged-models/logged-model.ts';
import { noteTag } from '../projects/show-experiment.ts';
import { isOwnRun, type MlflowContext } from '../protocol/context.ts';
import { runIdOf, runKeyOf } from '../protocol/ids.ts';
import { mlflowError } from '../protocol/mlflow-error.ts';
import { type Route, route } from '../protocol/route.ts';
import {
  double,
  exactStep,
  isPlainName,
  latest,
  milliseconds,
  namedValue,
  text,
  trackedName,
} from '../protocol/scalars.ts';
import { changeRun, logFields, readFieldsAhead, requireUniqueParams } from './change-run.ts';
import { requireActiveRun, requireRun, runIdField } from './find-run.ts';
import { sentSeries } from './sent-series.ts';
import { runNameTag } from './show-run.ts';

/** A route that logs to a run. Requests for the same run are handled one after the other. */
const logging = <S extends z.ZodObject<typeof runIdField>>(
  call: `POST ${string}`,
  schema: S,
  handle: (input: z.output<S>, context: MlflowContext) => Promise<object>,
): Route => route(call, schema, (input, context) => inTurn(input.run_id, () => handle(input, context)));

/** Pending requests by run, so requests in one process do not contend. */
const underWay = new Map<string, Promise<unknown>>();

const isContention = (error: unknown): boolean =>
  error instanceof ServiceError &&
  error.kind === 'conflict' &&
  error.code === undefined &&
  error.cause !== undefined;

/** Rounds of retries, ten attempts each, before the client gets an error that it should retry. */
const rounds = 5;

/** A point in a request. */
const sentMetric = z.object({
  key: trackedName,
  value: double,
  timestamp: milliseconds,
  step: exactStep.default(0),
  /** Model that was measured, and data set of the measurement. */
  model_id: text.optional(),
  dataset_name: text.optional(),
  dataset_digest: text.optional(),
});

const logMetric = logging(
  'POST mlflow/runs/log-metric',
  z.object({ ...runIdField, ...sentMetric.shape }),
  async (input, context) => {
    const read = readPointsAhead(context, input.run_id);
    const { experiment } = await requireActiveRun(context, input.run_id);
    await logMetrics(context, experiment, { metrics: [input] }, read);
    return {};
  },
);

/** Return the metrics of models, each with the run that measured them. */
const measuredOf = (
  metrics: readonly SentMetric[],
  run_id: string,
): { model_id: string; metric: ModelMetric }[] =>
  metrics
    .filter(({ model_id = '' }) => model_id !== '')
    .flatMap((sent) => {
      const { model_id = '', dataset_name = '', dataset_digest = '' } = sent;
      return pointsOf([sent]).map((point) => ({
        model_id,
        metric: {
          ...point,
          time: isoTime(point.time),
          run_id,
          ...(dataset_name !== '' && { dataset_name }),
          ...(dataset_digest !== '' && { dataset_digest }),
        },
      }));
    });

/** Convert points to their stored form. */
const pointsOf = (metrics: readonly SentMetric[]): MetricPoint[] =>
  metrics.map(({ key, value, timestamp, step }) => ({ name: key, value, step, time: timestamp }));

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
    // A run always keeps its name.
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

/**
 * Parse the points of a batch by {@link sentMetric}. Using the schema for all of a thousand points would take most
 * of the request's time.
 */
const sentMetrics = (most: number, message: string) =>
  z
    .array(z.unknown())
    .max(most, message)
    .transform((metrics, context): SentMetric[] => {
      const isPlain = plainCheck();
      return metrics.map((sent, index) => {
        if (isPlain(sent)) return sent;
        const parsed = sentMetric.safeParse(sent);
        if (parsed.success) return parsed.data;
        for (const { path, message } of parsed.error.issues)
          context.addIssue({ code: 'custom', message, path: [index, ...path] });
        return z.NEVER;
      });
    });

/** Fields of a point whose values need no conversion. */
const plainFields: ReadonlySet<string> = new Set(['key', 'value', 'timestamp', 'step']);

/** Limits of MLflow's own server for one request. */
const maxMetrics = 1000;

const atMost = (what: string, most: number) =>
  `A batch logging request can contain at most ${most} ${what}. Please split up ${what} across multiple requests and try again.`;

const maxPairs = 100;
const maxEntities = 1000;

const batch = z
  .object({
    ...runIdField,
    metrics: sentMetrics(maxMetrics, atMost('metrics', maxMetrics)).default([]),
    params: z.array(namedValue).max(maxPairs, atMost('params', maxPairs)).default([]),
    tags: z.array(namedValue).max(maxPairs, atMost('tags', maxPairs)).default([]),
    series: sentSeries,
  })
  .refine(
    ({ metrics, params, tags }) => metrics.length + params.length + tags.length <= maxEntities,
    atMost('metrics, params, and tags', maxEntities),
  );

const logBatch = logging('POST mlflow/runs/log-batch', batch, async (input, context) => {
  const { run_id, metrics, params, tags, series } = input;
  requireUniqueParams(params);
  const hasFields = params.length + tags.length > 0;
  const readFields = hasFields ? readFieldsAhead(context, runKeyOf(run_id)) : undefined;
  const readPoints = metrics.length + series.length > 0 ? readPointsAhead(context, run_id) : undefined;
  const { experiment } = await (hasFields
    ? requireRun(context, run_id, 'developer')
    : requireActiveRun(context, run_id));
  if (hasFields) await logFields(context, experiment, { params, tags }, readFields);
  await logMetrics(context, experiment, { metrics, series }, readPoints);
  return {};
});

export const logRoutes: readonly Route[] = [logMetric, logParameter, setTag, deleteTag, logBatch];

/**
 * Apply changes of one run one after the other, because clients log asynchronously with ten threads. Other
 * function instances may change the run at the same time, so retry.
 * @throws ServiceError `too-many-requests` if every retry meets another change
 */
function inTurn<T>(run_id: string, act: () => Promise<T>): Promise<T> {
  const before = underWay.get(run_id) ?? Promise.resolve();
  const mine = before.then(() => persist(act));
  const settled = mine.then(
    () => {},
    () => {},
  );
  underWay.set(run_id, settled);
  void settled.then(() => {
    if (underWay.get(run_id) === settled) underWay.delete(run_id);
  });
  return mine;
}

async function persist<T>(act: () => Promise<T>): Promise<T> {
  for (let round = 1; ; round += 1) {
    try {
      return await act();
    } catch (error) {
      if (!isContention(error)) throw error;
      if (round < rounds) continue;
      // Clients retry a 429 but give up at a 409. A point that is already stored is not stored again.
      throw new ServiceError(
        'too-many-requests',
        'Many requests change this run at the same time. Try again.',
        {
          retryAfterSeconds: 1,
        },
      );
    }
  }
}

/** Start to read the data for logging points in parallel with the access check. */
function readPointsAhead(context: MlflowContext, run_id: string): (() => Promise<PointsRead>) | undefined {
  const key = runKeyOf(run_id);
  return isOwnRun(context, key) ? undefined : readAhead(() => readBeforePoints(context.records, key));
}

async function logMetrics(
  context: MlflowContext,
  experiment: Experiment,
  { metrics, series = [] }: { metrics: readonly SentMetric[]; series?: readonly MetricPoint[] },
  read?: () => Promise<PointsRead>,
): Promise<void> {
  const points = series.length === 0 ? pointsOf(metrics) : [...pointsOf(metrics), ...series];
  if (points.length === 0) return;
  const { job } = context;
  const jobReach = job !== undefined && isOwnRun(context, experiment) ? job : undefined;
  if (experiment.kind !== 'logged' && jobReach === undefined)
    throw mlflowError(
      'INVALID_PARAMETER_VALUE',
      "A training gets metrics only from its job, through METRICS_FILE or its program's MLflow client.",
    );
  const noteOfModels = await noteModelMetrics(context, measuredOf(metrics, runIdOf(experiment)));
  await (jobReach?.logPoints(points) ?? logPoints(context.records, experiment, points, read, context.now));
  await noteOfModels();
}

type SentMetric = z.output<typeof sentMetric>;

/**
 * Create a fast check for common points: plain JSON numbers, no model. It only accepts points that the schema
 * would accept unchanged.
 */
function plainCheck(): (sent: unknown) => sent is SentMetric {
  const names = new Set<string>();
  const isName = (key: unknown): boolean => {
    if (typeof key !== 'string') return false;
    if (isPlainName(key) || names.has(key)) return true;
    const isTaken = trackedName.safeParse(key).success;
    if (isTaken) names.add(key);
    return isTaken;
  };
  return (sent): sent is SentMetric => {
    if (typeof sent !== 'object' || sent === null) return false;
    let fields = 0;
    for (const field in sent) {
      if (!plainFields.has(field)) return false;
      fields += 1;
    }
    if (fields !== plainFields.size) return false;
    const { key, value, timestamp, step } = sent as Record<string, unknown>;
    return (
      typeof value === 'number' &&
      Number.isFinite(value) &&
      typeof timestamp === 'number' &&
      Number.isInteger(timestamp) &&
      timestamp >= 0 &&
      timestamp <= latest &&
      Number.isSafeInteger(step) &&
      isName(key)
    );
  };
}
