import type { AnswerOf } from '../../../../shared/client/route.ts';
import { secondsOf } from '../../../../shared/search/time-words.ts';
import type { Attribute, Vocabulary } from '../../../../shared/search/vocabulary.ts';
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

const text = (read: (row: Row) => string | null): Attribute<Row> => ({ type: 'text', read });
const number = (read: (row: Row) => number | null | undefined): Attribute<Row> => ({ type: 'number', read });
const time = (read: (row: Row) => string | null): Attribute<Row> => ({
  type: 'time',
  read(row) {
    const at = read(row);
    return at === null ? null : Date.parse(at);
  },
});

/** Names in the filter box, the same as in the API's filter. */
export const vocabularyOf = (
  bestOf: (row: Row) => number | undefined,
): Omit<Vocabulary<Row>, 'free' | 'expressions'> => ({
  attributes: {
    name: text(({ name }) => name),
    status: { ...text(({ status }) => status), typed: (typed) => typed.toUpperCase() },
    kind: text(({ kind }) => kind),
    user: text(({ user }) => user),
    config: text(({ config_id }) => config_id),
    created_at: time(({ created_at }) => created_at),
    started_at: time(({ started_at }) => started_at),
    stopped_at: time(({ stopped_at }) => stopped_at),
    duration: { ...number(({ duration }) => duration), typed: secondsOf },
    cost: number(({ cost }) => cost),
    best: number(bestOf),
    sweep: text(({ sweep_id }) => sweep_id),
    trial: number(({ trial }) => trial),
    outcome: text(({ outcome }) => outcome),
  },
  groups: {
    metrics: { type: 'number', read: (row, key) => metricOf(row, key) },
    params: { type: 'text-or-number', read: paramOf },
    tags: { type: 'text-or-number', read: tagOf },
  },
  groupAliases: { metric: 'metrics', param: 'params', tag: 'tags', parameters: 'params' },
});
