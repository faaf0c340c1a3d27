import { rowFields } from '../api/answers.ts';
import { columnOf, metricIn, type Names } from '../runs/columns.ts';
import { type Row, rowOf } from '../runs/row.ts';

/**
 * Params, tags and metrics that the rows of a heavy table have loaded: `params.lr` or, for all params, `params`. A light
 * table loads all.
 */
export type LoadedValues = ReadonlySet<string>;

/** Values of a heavy table. */
export interface Heavy {
  /** Names in the newest rows, which were read whole. */
  names: Names;
  /** What each answer has since, and so each row that is read. */
  asked: LoadedValues;
  /** What all rows have. */
  loaded: LoadedValues;
}

const groups = ['params', 'tags', 'metrics'] as const;

/** JSON of all rows from which on a table is heavy, in characters. Compressed it is some 5 MB. */
const heavyCharacters = 20_000_000;

/** Return whether all values of a project's rows are too many to load, by its first rows. */
export const isHeavy = (first: readonly Row[], total: number): boolean =>
  (JSON.stringify(first).length / Math.max(1, first.length)) * total > heavyCharacters;

/** Return the value that a column shows: `metrics.loss` for `metrics.loss:min`; undefined for attributes. */
export function valueOfColumn(id: string): string | undefined {
  const metric = metricIn(id);
  if (metric !== undefined) return `metrics.${metric}`;
  return /^(?:params|tags)\./.test(id) ? columnOf(id)?.id : undefined;
}

export const isLoaded = (loaded: LoadedValues | undefined, value: string | undefined): boolean =>
  loaded === undefined ||
  value === undefined ||
  loaded.has(value) ||
  loaded.has(value.slice(0, value.indexOf('.')));

/** Return the values that a filter may name. Words that name nothing may stand in any param or tag. */
export function valuesOfFilter(filter: string, names: Names, hasWords: boolean): string[] {
  const text = filter.toLowerCase();
  const named = groups.flatMap((group) =>
    names[group].filter((name) => text.includes(name.toLowerCase())).map((name) => `${group}.${name}`),
  );
  return hasWords ? ['params', 'tags', ...named.filter((value) => value.startsWith('metrics.'))] : named;
}

/** Characters of the fields in an address. Browsers and API Gateway have room for more. */
const maxCharacters = 4_000;

/** Return the first of these values for which one request has room. */
export function partOfRequest(values: readonly string[]): string[] {
  let left = maxCharacters;
  return values.filter((value, index) => {
    left -= encodeURIComponent(fieldOf(value)).length + 3;
    return index === 0 || left > 0;
  });
}

/** Return the fields to ask for: those of every row, and these values. */
export const fieldsWith = (values: Iterable<string>): string =>
  [...attributes, ...[...values].map(fieldOf)].join();

/** Return the fields to ask for, for rows that have the others. */
export const fieldsOnly = (values: Iterable<string>): string =>
  ['experiment_id', ...[...values].map(fieldOf)].join();

const attributes = rowFields.split(',').filter((field) => !groups.some((group) => group === field));

const fieldOf = (value: string): string => {
  const dot = value.indexOf('.');
  return dot < 0 || /^[\w./:-]+$/.test(value)
    ? value
    : `${value.slice(0, dot)}.\`${value.slice(dot + 1).replaceAll('`', '``')}\``;
};

/** Return the row of an answer, which lacks the groups of which nothing was asked for. */
export const rowFrom = (answer: Parameters<typeof rowOf>[0]): Row => ({
  ...rowOf(answer),
  params: answer.params ?? {},
  tags: answer.tags ?? {},
  metrics: answer.metrics ?? {},
});

/** Return a row with these values only. */
export const withOnly = (row: Row, values: LoadedValues): Row => ({
  ...row,
  params: only(row.params, 'params', values),
  tags: only(row.tags, 'tags', values),
  metrics: only(row.metrics, 'metrics', values),
});

const only = <V>(all: Record<string, V>, group: string, values: LoadedValues): Record<string, V> =>
  values.has(group)
    ? all
    : Object.fromEntries(Object.entries(all).filter(([name]) => values.has(`${group}.${name}`)));

/** Add values to the rows that have them. What a row has by itself was read later. */
export function withValues(rows: readonly Row[], answers: readonly Row[]): Row[] {
  const byId = new Map(answers.map((answer) => [answer.experiment_id, answer]));
  return rows.map((row) => {
    const later = byId.get(row.experiment_id);
    return later === undefined
      ? row
      : {
          ...row,
          params: { ...later.params, ...row.params },
          tags: { ...later.tags, ...row.tags },
          metrics: { ...later.metrics, ...row.metrics },
        };
  });
}
