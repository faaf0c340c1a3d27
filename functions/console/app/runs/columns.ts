import type { JudgedBy } from '../../../../shared/metrics/criteria.ts';
import {
  agoText,
  causeText,
  costText,
  durationText,
  fixedText,
  numberText,
  runDurationText,
} from '../ui/text/format.ts';
import { decimalsOf, isPlainNumber, pointPad } from '../ui/text/point-pad.ts';
import type { Difference } from './difference.ts';
import { inOrder, isCounter } from './metric-order.ts';
import { Ranking } from './ranking.ts';
import { type Aggregate, aggregates, metricOf, paramOf, type Row, tagOf } from './row.ts';

/** A column of the table. The address holds its ID. */
export interface Column<R = Row> {
  id: string;
  /** Text of the column head. */
  label: string;
  /** Small text above the label. */
  group?: string;
  isNumber: boolean;
  /** Width in rem. */
  width: number;
  /** Decimal places that its numbers leave room for, so that their points are below each other. */
  decimals?: number;
  /** Whether all of its values are numbers, though it may hold texts. */
  hasNumbers?: boolean;
  /** Return a row's value. Undefined means that it is missing, and sorts last in both directions. */
  value(row: R): string | number | undefined;
  text(row: R): string;
  /** Format a value of the column, or a mean of its values, in the column's unit. */
  show(value: number): string;
  /** Difference of a row's value from the baseline's. */
  difference?(row: R): Difference | undefined;
}

const attribute = (
  id: string,
  label: string,
  width: number,
  value: Column['value'],
  show?: (row: Row) => string,
  number?: (value: number) => string,
): Column => ({
  id,
  label,
  width,
  isNumber: number !== undefined,
  value,
  text: show ?? ((row) => String(value(row) ?? '–')),
  show: number ?? numberText,
});

const time = (text: string | null): number | undefined => (text === null ? undefined : Date.parse(text));

/** Return the column of the best values by a criterion. */
export const bestColumn = (ranking: Ranking, criterion?: string): Column => ({
  ...attribute(
    'best',
    'Best',
    7,
    (row) => ranking.best(row)?.value,
    (row) => numberText(ranking.best(row)?.value),
    numberText,
  ),
  ...(criterion !== undefined && { group: criterion }),
});

export const attributeColumns: readonly Column[] = [
  attribute('status', 'Status', 7, ({ status }) => status),
  attribute(
    'created',
    'Created',
    7,
    (row) => time(row.created_at),
    (row) => agoText(row.created_at),
  ),
  attribute(
    'duration',
    'Duration',
    7,
    (row) => row.duration ?? undefined,
    (row) => runDurationText(row.duration),
    durationText,
  ),
  bestColumn(new Ranking(undefined)),
  attribute('kind', 'Kind', 7.5, ({ kind }) => kind),
  attribute('user', 'User', 7.5, ({ user }) => user ?? undefined),
  attribute('config', 'Configuration', 9, (row) => row.config_id ?? undefined),
  attribute(
    'cost',
    'Cost',
    6,
    (row) => row.cost ?? undefined,
    (row) => costText(row.cost),
    costText,
  ),
  attribute(
    'warnings',
    'Warnings',
    6,
    ({ warnings }) => warnings.length,
    ({ warnings }) => (warnings.length === 0 ? '–' : numberText(warnings.length)),
    numberText,
  ),
  attribute('reason', 'Reason', 16, (row) =>
    row.status_reason === null ? undefined : causeText(row.status_reason),
  ),
];
const attributes = new Map(attributeColumns.map((column) => [column.id, column]));

/** Column with the small curve of the ranking metric. */
export const courseColumn: Column = { ...attribute('course', 'Curve', 8, () => undefined), text: () => '' };

export const metricColumn = (name: string, aggregate: Aggregate = 'last'): Column => ({
  id: `metrics.${name}:${aggregate}`,
  label: name,
  group: aggregate,
  isNumber: true,
  width: Math.min(14, Math.max(6.5, name.length * 0.52 + 2)),
  value: (row) => metricOf(row, name, aggregate),
  text: (row) => numberText(metricOf(row, name, aggregate)),
  show: numberText,
});

const numeric = (text: string | undefined): string | number | undefined => {
  if (text === undefined || text.trim() === '') return text;
  const number = Number(text);
  return Number.isNaN(number) ? text : number;
};

const named = (group: 'params' | 'tags', name: string): Column => {
  const read = group === 'params' ? paramOf : tagOf;
  return {
    id: `${group}.${name}`,
    label: name,
    group: group === 'params' ? 'param' : 'tag',
    isNumber: false,
    width: Math.min(14, Math.max(5.5, name.length * 0.52 + 2)),
    value: (row) => numeric(read(row, name)),
    text: (row) => read(row, name) ?? '–',
    show: numberText,
  };
};
export const paramColumn = (name: string): Column => named('params', name);
export const tagColumn = (name: string): Column => named('tags', name);

/** Return the column of an ID; undefined if the ID is invalid. */
export function columnOf(id: string): Column | undefined {
  if (id === 'course') return courseColumn;
  const fixed = attributes.get(id);
  if (fixed !== undefined) return fixed;
  const [, group, rest = ''] = /^(metrics|params|tags)\.(.+)$/s.exec(id) ?? [];
  if (group === 'params') return paramColumn(rest);
  if (group === 'tags') return tagColumn(rest);
  if (group !== 'metrics') return undefined;
  const colon = rest.lastIndexOf(':');
  const aggregate = aggregates.find((one) => one === rest.slice(colon + 1));
  return colon > 0 && aggregate !== undefined
    ? metricColumn(rest.slice(0, colon), aggregate)
    : metricColumn(rest);
}

/** Return the metric of a metric column; undefined for other columns. */
export const metricIn = (id: string): string | undefined =>
  id.startsWith('metrics.') ? columnOf(id)?.label : undefined;

/** Rows whose values decide on the width of a column, or on the room for its decimal places. */
const sampled = 200;

function* sampleOf<R>(rows: readonly R[]): Generator<R> {
  const stride = Math.max(1, Math.floor(rows.length / sampled));
  for (let index = 0; index < rows.length; index += stride) {
    const row = rows[index];
    if (row !== undefined) yield row;
  }
}

/** Whether values of a column stand at its right edge. */
export const isRight = <R>({ isNumber, hasNumbers }: Column<R>): boolean => isNumber || hasNumbers === true;

const maxFixed = 6;

/** Return the most decimal places that some rows show in a column of plain numbers. */
export function mostDecimals<R>(column: Column<R>, rows: readonly R[]): number {
  if (!isRight(column) || column.show !== numberText) return 0;
  let most = 0;
  for (const row of sampleOf(rows)) most = Math.max(most, decimalsOf(column.text(row)));
  // A few tiny numbers would make long ones of all.
  return column.isNumber ? Math.min(most, maxFixed) : most;
}

/** Return whether some rows have values in a column, and all of these are numbers. */
function hasOnlyNumbers<R>(column: Column<R>, rows: readonly R[]): boolean {
  let hasSome = false;
  for (const row of sampleOf(rows)) {
    const value = column.value(row);
    if (value === undefined) continue;
    if (typeof value !== 'number') return false;
    hasSome = true;
  }
  return hasSome;
}

/** Of the text of the table, in rem. */
const digitWidth = 0.52;
const cellPadding = 1.5;

/**
 * Return the text of a cell. A measured number has as many decimal places as others of its column, if it has the room.
 * What somebody typed, as a param, stays as it is.
 */
export function cellText<R>(column: Column<R>, row: R): string {
  const { decimals = 0, isNumber, show, width } = column;
  const text = column.text(row);
  const value = isNumber && show === numberText && decimals > 0 ? column.value(row) : undefined;
  if (typeof value !== 'number' || decimalsOf(text) >= decimals || !isPlainNumber(text)) return text;
  const fixed = fixedText(value, decimals);
  return fixed.length > (width - cellPadding) / digitWidth ? text : fixed;
}

/** Return the blanks after a number of a column, as many as its cell has room for. */
export const columnPad = (
  text: string,
  { decimals = 0, width }: Pick<Column, 'decimals' | 'width'>,
): string => pointPad(text, decimals, (width - cellPadding) / digitWidth);

const widestWords = 14;

/** Return the width in rem at which most words and aligned numbers of a column are whole; its own width if that is more. */
export function wordsWidth<R>(column: Column<R>, rows: readonly R[]): number {
  let most = 0;
  for (const row of sampleOf(rows)) {
    const text = column.text(row);
    most = Math.max(most, text.length + pointPad(text, column.decimals ?? 0).length);
  }
  return Math.max(column.width, Math.min(widestWords, Math.ceil(most * digitWidth + cellPadding)));
}

/** Of the bold text of names, in rem, with the paddings and the room of a star. */
const letterWidth = 0.55;
const namePadding = 3.25;

/** Return the width in rem at which the names of rows are whole. */
export function namesWidth(rows: readonly { name: string }[]): number {
  let most = 0;
  for (const { name } of sampleOf(rows)) most = Math.max(most, name.length);
  return Math.ceil(most * letterWidth + namePadding);
}

const isParamOrTag = (id: string): boolean => /^(?:params|tags)\./.test(id);

/** Return a column with the room that its values need, so that words are whole and points are below each other. */
export function fitColumn<R>(column: Column<R>, rows: readonly R[]): Column<R> {
  const isWords = isParamOrTag(column.id);
  const known = isWords ? { ...column, hasNumbers: hasOnlyNumbers(column, rows) } : column;
  const aligned = { ...known, decimals: mostDecimals(known, rows) };
  return isWords ? { ...aligned, width: wordsWidth(aligned, rows) } : aligned;
}

/** Put the numbers before the other columns, for a table without room for all. */
export const figuresFirst = (columns: readonly Column[]): Column[] => [
  ...columns.filter(({ isNumber }) => isNumber),
  ...columns.filter(({ isNumber }) => !isNumber),
];

/** Join column IDs for the address. Double each comma in an ID. */
export const joinIds = (ids: readonly string[]): string =>
  ids.map((id) => id.replaceAll(',', ',,')).join(',');
export function splitIds(text: string): string[] {
  const ids: string[] = [];
  for (const piece of text.split(/(?<!,),(?!,)/)) if (piece !== '') ids.push(piece.replaceAll(',,', ','));
  return ids;
}

/**
 * Names of metrics, params and tags, the most frequent first. They come from the first rows and a sample of later
 * ones.
 */
export interface Names {
  metrics: string[];
  params: string[];
  tags: string[];
  /** Params whose values differ between rows. */
  varying: string[];
}

export function namesIn(rows: readonly Row[]): Names {
  const counts = {
    metrics: new Map<string, number>(),
    params: new Map<string, number>(),
    tags: new Map<string, number>(),
  };
  const seen = new Map<string, string>();
  const varying = new Set<string>();
  const stride = Math.max(1, Math.floor(rows.length / 1500));
  for (let index = 0; index < rows.length; index += index < 200 ? 1 : stride) {
    const row = rows[index];
    if (row === undefined) break;
    for (const group of ['metrics', 'params', 'tags'] as const)
      for (const name in row[group]) counts[group].set(name, (counts[group].get(name) ?? 0) + 1);
    for (const name in row.params) {
      const value = row.params[name] ?? '';
      const before = seen.get(name);
      if (before === undefined) seen.set(name, value);
      else if (before !== value) varying.add(name);
    }
  }
  const sorted = (map: Map<string, number>): string[] =>
    [...map].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0])).map(([name]) => name);
  const params = sorted(counts.params);
  return {
    metrics: sorted(counts.metrics),
    params,
    tags: sorted(counts.tags),
    varying: params.filter((name) => varying.has(name)),
  };
}

/**
 * Return the default columns, which distinguish the experiments: the criterion, then validation, test and training
 * metrics, then params. Counters and learning rates are no results.
 */
export const usualColumns = ({ metrics, varying }: Names, judge?: JudgedBy): string[] => [
  'status',
  'best',
  'course',
  ...inOrder(
    metrics.filter((name) => !isCounter(name)),
    judge,
  )
    .slice(0, 3)
    .map((name) => metricColumn(name).id),
  ...varying.slice(0, 4).map((name) => paramColumn(name).id),
  'created',
  'duration',
];
