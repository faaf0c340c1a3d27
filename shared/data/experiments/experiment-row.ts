import type { RunMetrics } from '../../metrics/metric-ranker.ts';
import type { MetricSummary } from '../metrics/metric-summary.ts';
import { defaultName } from '../projects/default-name.ts';
import type { Experiment } from './experiment.ts';
import type { Tracking } from './tracking.ts';

/** What search knows of an experiment: all by which experiments are found, ordered and listed. */
export interface ExperimentRow
  extends Readonly<
      Pick<
        Experiment,
        | 'experiment_id'
        | 'project_id'
        | 'kind'
        | 'status'
        | 'user_id'
        | 'config_id'
        | 'created_at'
        | 'started_at'
        | 'stopped_at'
        | 'cost_estimate'
        | 'timeout'
        | 'attempts'
      >
    >,
    RunMetrics {
  readonly name: string;
  readonly note: string | null;
  /** When an MLflow client marked it as deleted. */
  readonly deleted_at: string | undefined;
  /** Data sets that it has read; undefined where it names neither data sets nor models. */
  readonly datasets: readonly RowDataset[] | undefined;
  tag(name: string): string | undefined;
  param(name: string): string | undefined;
  /** The last value of a metric, for filters and orders, which read it of each row. */
  lastOf(name: string): number | undefined;
  readonly tags: ReadonlyMap<string, string>;
  readonly params: ReadonlyMap<string, string>;
  readonly metrics: ReadonlyMap<string, MetricSummary>;
}

/** By what a data set that an experiment has read is found. */
export interface RowDataset {
  name: string;
  digest: string;
  /** What it was read for, as its client says. */
  context: string | null;
}

/** The tag of a data set by which MLflow's clients say what it was read for. */
export const contextTag = 'mlflow.data.context';

/**
 * The metrics of an experiment. A release that summarized none kept the best value with the record: that counts as the
 * one value of its metric.
 */
export function withEarlierBest(
  { best }: Pick<Experiment, 'best'>,
  metrics: ReadonlyMap<string, MetricSummary>,
): ReadonlyMap<string, MetricSummary> {
  const name = best?.metric ?? best?.criterion ?? '';
  if (best === null || metrics.has(name)) return metrics;
  const { value, step } = best;
  return new Map(metrics).set(name, { last: value, min: value, max: value, step, time: 0, count: 1 });
}

/** The row of an experiment as its records are. */
export function rowOf(experiment: Experiment, { fields, metrics: summarized }: Tracking): ExperimentRow {
  const metrics = withEarlierBest(experiment, summarized);
  const tags = new Map(Object.entries(fields?.tags ?? {}));
  const params = new Map(Object.entries(fields?.params ?? {}));
  return {
    ...experiment,
    name: fields?.name ?? defaultName(experiment.config_id),
    note: fields?.note ?? null,
    deleted_at: fields?.deleted_at,
    datasets: datasetsOf(fields),
    tag: (name) => tags.get(name),
    param: (name) => params.get(name),
    metricNames: [...metrics.keys()],
    metric: (name) => metrics.get(name),
    lastOf: (name) => metrics.get(name)?.last,
    tags,
    params,
    metrics,
  };
}

function datasetsOf(fields: Tracking['fields']): RowDataset[] | undefined {
  const { datasets, models_read, models_made } = fields ?? {};
  if ((datasets ?? models_read ?? models_made) === undefined) return undefined;
  return (datasets ?? []).map(({ name, digest, tags }) => ({
    name,
    digest,
    context: tags[contextTag] ?? null,
  }));
}
