import { dsvFormat } from 'd3-dsv';
import { decimalPattern } from '../../../../shared/core/text/decimal.ts';
import { tryParseJson } from '../../../../shared/core/text/try-parse-json.ts';

/** Cell of a table. */
export type Cell = string | number | boolean | null;

export interface TableData {
  columns: readonly string[];
  rows: readonly (readonly Cell[])[];
  /** Rows of the whole file, if it is known to have more than are here. */
  total?: number | undefined;
  isWhole: boolean;
}

/** Return a cell for any value: objects as JSON. */
export function cellOf(value: unknown): Cell {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value;
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (value instanceof Date) return value.toISOString();
  if (ArrayBuffer.isView(value) && !(value instanceof DataView) && 'length' in value) {
    const list = value as unknown as ArrayLike<number>;
    return list.length > 12
      ? `${list.length.toLocaleString('en')} values`
      : `[${Array.from(list).join(', ')}]`;
  }
  return (
    JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? String(part) : part)) ?? null
  );
}

const separators = [',', ';', '\t', '|'];

/** Return the separator that the first line has most often outside of quotes. */
function separatorOf(text: string): string {
  const [line = ''] = text.split('\n', 1);
  const bare = line.replace(/"(?:[^"]|"")*"/g, '');
  const counts = separators.map((separator) => bare.split(separator).length);
  return separators[counts.indexOf(Math.max(...counts))] ?? ',';
}

/** Parse separated values. Numbers become numbers, so that they sort as such. */
export function parseSeparated(text: string, separator: string | undefined, isWhole: boolean): TableData {
  const plain = text.replace(/^\uFEFF/, '');
  const all = dsvFormat(separator ?? separatorOf(plain)).parseRows(plain);
  const data = all.filter((row) => row.length > 1 || row[0] !== '');
  const [head = [], ...rows] = isWhole ? data : data.slice(0, -1);
  const width = Math.max(head.length, ...rows.slice(0, 1000).map(({ length }) => length));
  return {
    columns: Array.from({ length: width }, (_, index) => head[index] ?? ''),
    rows: rows.map((row) => row.map((cell) => (decimalPattern.test(cell) ? Number(cell) : cell))),
    isWhole,
  };
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function recordsTable(records: readonly Readonly<Record<string, unknown>>[]): TableData {
  const columns = [...new Set(records.flatMap((record) => Object.keys(record)))];
  return {
    columns,
    rows: records.map((record) => columns.map((column) => cellOf(record[column]))),
    isWhole: true,
  };
}

/**
 * Read a table from JSON: one of `mlflow.log_table` (`{"columns": […], "data": [[…]]}`), a list of objects, or one
 * object a line. Undefined if the file is no table.
 */
export function parseJsonTable(text: string): TableData | undefined {
  const lines = () => text.split('\n').filter((line) => line.trim() !== '');
  const value = tryParseJson(text) ?? lines().map(tryParseJson);
  if (Array.isArray(value) && value.length > 0 && value.every(isObject)) return recordsTable(value);
  if (!isObject(value)) return undefined;
  const { columns, data } = value;
  if (!Array.isArray(columns) || !Array.isArray(data) || !data.every(Array.isArray)) return undefined;
  return {
    columns: columns.map(String),
    rows: data.map((row: readonly unknown[]) => row.map(cellOf)),
    isWhole: true,
  };
}
