import type { AnswerOf } from '../../../../shared/client/route.ts';
import type { endpoint as listLive } from '../../../experiments/live/list-live-experiments.endpoint.ts';

/** Reduce an experiment to the fields of a table row. */
export const rowOf = ({
  experiment_id,
  project_id,
  user,
  name,
  kind,
  status,
  status_reason,
  config_id,
  created_at,
  started_at,
  stopped_at,
  duration,
  cost,
  best,
  params,
  tags,
  metrics,
  sweep_id,
  trial,
  outcome,
  sparkline,
  warnings,
}: AnswerOf<typeof listLive>['others'][number]) => ({
  experiment_id,
  project_id,
  user,
  name,
  kind,
  status,
  status_reason,
  config_id,
  created_at,
  started_at,
  stopped_at,
  duration,
  cost,
  best,
  params,
  tags,
  metrics,
  sweep_id,
  trial,
  outcome,
  sparkline,
  warnings,
});

export type Row = Readonly<ReturnType<typeof rowOf>>;

export const aggregates = ['last', 'min', 'max'] as const;
export type Aggregate = (typeof aggregates)[number];

/**
 * Convert a metric's JSON value to a number. NaN and infinities arrive as strings, because JSON does not have
 * them.
 */
export const asNumber = (value: number | string | undefined): number | undefined =>
  typeof value === 'string' ? Number(value) : value;

const own = <T>(values: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(values, key) ? values[key] : undefined;

export const metricOf = (
  row: Pick<Row, 'metrics'>,
  name: string,
  aggregate: Aggregate = 'last',
): number | undefined => asNumber(own(row.metrics, name)?.[aggregate]);
export const paramOf = (row: Row, name: string): string | undefined => own(row.params, name);
export const tagOf = (row: Row, name: string): string | undefined => own(row.tags, name);
