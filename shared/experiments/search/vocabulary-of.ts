import type { regularExpression } from '../../search/regular-expression.ts';
import { secondsOf } from '../../search/time-words.ts';
import type { Attribute, SearchValue, ValueType, Vocabulary } from '../../search/vocabulary.ts';
import { type OwnAttribute, ownAttributes } from '../experiment-attributes.ts';
import { unknownName } from './unknown-name.ts';

/**
 * Vocabulary of filters and orders of experiments: our names, and MLflow's equivalents. The service and the console read
 * the same values from different rows, so a filter finds the same in both.
 */
export function vocabularyOf<Row>({
  attributes: read,
  bestOrder,
  metric,
  param,
  tag,
  expressions,
  free,
}: ExperimentReaders<Row>): Vocabulary<Row> {
  const attribute = (name: OwnAttribute): Attribute<Row> => ({
    type: types[name] ?? 'text',
    read: read[name],
    ...meanings[name],
    ...(name === 'best' && bestOrder && { order: bestOrder }),
  });
  return {
    attributes: Object.fromEntries(
      [...ownAttributes.map((name) => [name, name] as const), ...ofMlflow].map(([name, own]) => [
        name,
        attribute(own),
      ]),
    ),
    groups: {
      metrics: { type: 'number', read: metric },
      params: { type: 'text-or-number', read: param },
      tags: { type: free === undefined ? 'text' : 'text-or-number', read: tag },
    },
    groupAliases: {
      metric: 'metrics',
      param: 'params',
      parameter: 'params',
      parameters: 'params',
      tag: 'tags',
    },
    expressions,
    ...(free && {
      free: {
        ...free,
        // A param, else a metric, else a tag of each experiment.
        named: (name) => ({
          label: name,
          type: 'text-or-number',
          read: (row) => param(row, name) ?? metric(row, name) ?? tag(row, name),
          absence: (rows) => unknownName(name, free.namesOf(rows)),
        }),
        timeOf: (row) => Number(read.created_at(row)),
      },
    }),
  };
}

/** Types of attributes that are no texts. */
const types: Readonly<Partial<Record<OwnAttribute, ValueType>>> = {
  created_at: 'time',
  started_at: 'time',
  stopped_at: 'time',
  duration: 'number',
  cost: 'number',
  best: 'number',
  trial: 'number',
};

/** What a text of a filter means. */
const meanings: Readonly<Partial<Record<OwnAttribute, Pick<Attribute<never>, 'typed'>>>> = {
  status: { typed: (text) => text.toUpperCase() },
  duration: { typed: secondsOf },
};

/** MLflow's names. */
const ofMlflow: readonly (readonly [string, OwnAttribute])[] = [
  ['run_id', 'experiment_id'],
  ['run_name', 'name'],
  ['start_time', 'started_at'],
  ['end_time', 'stopped_at'],
];

/** How the values of an experiment are read from a row. Times are milliseconds since 1970. */
export interface ExperimentReaders<Row> {
  attributes: Readonly<Record<OwnAttribute, (row: Row) => SearchValue>>;
  /** Return a number that is the lower, the better the best value is. Filters need none. */
  bestOrder?: ((row: Row) => number | undefined) | undefined;
  metric(row: Row, name: string): number | undefined;
  param(row: Row, name: string): string | undefined;
  tag(row: Row, name: string): string | undefined;
  expressions: typeof regularExpression;
  /** What filters that people type need, whose names may have no group. What is kept, as filters of hooks, says what it means. */
  free:
    | {
        now(): Date;
        /** Return the text in which words are found, in small letters. */
        textOf(row: Row): string;
        /** Names of params, metrics and tags of rows, among which the one that was meant may be. */
        namesOf(rows: Iterable<Row>): Iterable<string>;
      }
    | undefined;
}

/** The text of an experiment in which words are found. */
export const wordsOf = (
  {
    name,
    experiment_id,
    status,
    config_id,
  }: Readonly<Record<'name' | 'experiment_id' | 'status', string>> & {
    readonly config_id: string | null;
  },
  values: Iterable<string>,
): string => [name, experiment_id, status, config_id ?? '', ...values].join(' ').toLowerCase();
