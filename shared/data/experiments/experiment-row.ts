import * as z from 'zod';
import { CapacityType, CostEstimates } from '../../core/capacity/capacity.ts';
import { Timestamp } from '../../core/formats.ts';
import type { RunMetrics } from '../../metrics/metric-ranker.ts';
import { ciName } from '../accounts/ci-run.ts';
import { Attempt } from '../jobs/job.ts';
import { JobStatus } from '../jobs/job-status.ts';
import type { NamedValues } from '../lists/named-values.ts';
import type { MetricSummary } from '../metrics/metric-summary.ts';
import { defaultName } from '../projects/default-name.ts';
import { type Experiment, ExperimentKind, SweepPlace } from './experiment.ts';
import type { Tracking } from './tracking.ts';

/** Row of an experiment in a search: all values for filters, orders and lists. */
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
        | 'attempt_started_at'
        | 'capacity_type'
        | 'estimates'
        | 'sweep'
        | 'stopped_early'
      >
    >,
    RunMetrics {
  /** Undefined in catalogues of releases that did not store it. */
  readonly batch_attempt: number | undefined;
  /** Name that takes the place of the user's if a run of CI began it. */
  readonly ci_name: string | undefined;
  readonly name: string;
  readonly note: string | null;
  /** Time at which an MLflow client marked it as deleted. */
  readonly deleted_at: string | undefined;
  /** Data sets that it has read. Undefined if it names neither data sets nor models. */
  readonly datasets: readonly RowDataset[] | undefined;
  tag(name: string): string | undefined;
  param(name: string): string | undefined;
  /** Return the last value of a metric. Filters and orders call this for each row. */
  lastOf(name: string): number | undefined;
  readonly tags: ReadonlyMap<string, string>;
  readonly params: ReadonlyMap<string, string>;
  readonly metrics: ReadonlyMap<string, MetricSummary>;
}

/** Searchable fields of a data set that an experiment has read. */
export interface RowDataset {
  name: string;
  digest: string;
  /** Purpose of the read, as reported by the client. */
  context: string | null;
}

/** Tag of a data set in which MLflow's clients report the purpose of the read. */
export const contextTag = 'mlflow.data.context';

/**
 * Return the metrics of an experiment. Releases without summaries stored the best value in the record; it then
 * counts as the only value of its metric.
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

/** Build the row of an experiment from its records. */
export function rowOf(experiment: Experiment, { fields, metrics: summarized }: Tracking): ExperimentRow {
  const metrics = withEarlierBest(experiment, summarized);
  const tags = new Map(Object.entries(fields?.tags ?? {}));
  const params = new Map(Object.entries(fields?.params ?? {}));
  return {
    ...experiment,
    ci_name: experiment.ci && ciName(experiment.ci),
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

/** Attributes of a row besides tags, params and metrics. */
export const Attributes = z.object({
  experiment_id: z.string(),
  kind: ExperimentKind,
  status: JobStatus,
  user_id: z.string(),
  ci_name: z.string().optional(),
  config_id: z.string().nullable(),
  created_at: Timestamp,
  started_at: Timestamp.nullable(),
  stopped_at: Timestamp.nullable(),
  cost_estimate: z.number().nullable(),
  timeout: z.number(),
  attempts: z.array(Attempt),
  /** Absent in segments of releases that did not store it. */
  batch_attempt: z.number().optional(),
  attempt_started_at: Timestamp.optional(),
  capacity_type: CapacityType.optional(),
  estimates: CostEstimates.optional(),
  sweep: SweepPlace.optional(),
  stopped_early: z.boolean().optional(),
  name: z.string(),
  note: z.string().nullable(),
  deleted_at: Timestamp.nullable(),
  datasets: z
    .array(z.object({ name: z.string(), digest: z.string(), context: z.string().nullable() }))
    .optional(),
});
type Attributes = z.infer<typeof Attributes>;

/** Row that looks up its tags, params and metrics in the columns of its segment. */
export class SegmentRow implements ExperimentRow {
  readonly #index: number;
  readonly #lookups: Lookups;
  readonly project_id: string;
  readonly experiment_id: string;
  readonly kind: Attributes['kind'];
  readonly status: Attributes['status'];
  readonly user_id: string;
  readonly ci_name: string | undefined;
  readonly config_id: string | null;
  readonly created_at: string;
  readonly started_at: string | null;
  readonly stopped_at: string | null;
  readonly cost_estimate: number | null;
  readonly timeout: number;
  readonly attempts: Attributes['attempts'];
  readonly batch_attempt: number | undefined;
  readonly attempt_started_at: string | undefined;
  readonly capacity_type: Attributes['capacity_type'];
  readonly estimates: Attributes['estimates'];
  readonly sweep: Attributes['sweep'];
  readonly stopped_early: boolean | undefined;
  readonly name: string;
  readonly note: string | null;
  readonly deleted_at: string | undefined;
  readonly datasets: ExperimentRow['datasets'];

  constructor(project_id: string, attributes: Attributes, index: number, lookups: Lookups) {
    this.#index = index;
    this.#lookups = lookups;
    this.project_id = project_id;
    this.experiment_id = attributes.experiment_id;
    this.kind = attributes.kind;
    this.status = attributes.status;
    this.user_id = attributes.user_id;
    this.ci_name = attributes.ci_name;
    this.config_id = attributes.config_id;
    this.created_at = attributes.created_at;
    this.started_at = attributes.started_at;
    this.stopped_at = attributes.stopped_at;
    this.cost_estimate = attributes.cost_estimate;
    this.timeout = attributes.timeout;
    this.attempts = attributes.attempts;
    this.batch_attempt = attributes.batch_attempt;
    this.attempt_started_at = attributes.attempt_started_at;
    this.capacity_type = attributes.capacity_type;
    this.estimates = attributes.estimates;
    this.sweep = attributes.sweep;
    this.stopped_early = attributes.stopped_early;
    this.name = attributes.name;
    this.note = attributes.note;
    this.deleted_at = attributes.deleted_at ?? undefined;
    this.datasets = attributes.datasets;
  }

  tag(name: string): string | undefined {
    return this.#lookups.tags.get(this.#index, name);
  }

  param(name: string): string | undefined {
    return this.#lookups.params.get(this.#index, name);
  }

  /** Names of the metrics of all rows of the segment. */
  get metricNames(): readonly string[] {
    return this.#lookups.metricNames;
  }

  metric(name: string): MetricSummary | undefined {
    return this.#lookups.metrics.get(this.#index, name);
  }

  lastOf(name: string): number | undefined {
    const { metrics, last } = this.#lookups;
    return last[metrics.indexOf(this.#index, name)];
  }

  get tags(): ReadonlyMap<string, string> {
    return this.#lookups.tags.of(this.#index);
  }

  get params(): ReadonlyMap<string, string> {
    return this.#lookups.params.of(this.#index);
  }

  get metrics(): ReadonlyMap<string, MetricSummary> {
    return this.#lookups.metrics.of(this.#index);
  }
}

interface Lookups {
  tags: NamedValues<string>;
  params: NamedValues<string>;
  metrics: NamedValues<MetricSummary>;
  metricNames: readonly string[];
  /** Last values of metrics. The indexes are those of `metrics`. */
  last: Float64Array;
}
