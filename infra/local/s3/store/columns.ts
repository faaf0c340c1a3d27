import type { SQLOutputValue } from 'node:sqlite';

/** A row as the database gives it. */
export type Row = Readonly<Record<string, SQLOutputValue>>;

/** The text in a column. @throws TypeError where the database holds something else */
export function text(row: Row, column: string): string {
  const value = row[column];
  if (typeof value !== 'string') throw unexpected(column);
  return value;
}

/** The number in a column. @throws TypeError where the database holds something else */
export function integer(row: Row, column: string): number {
  const value = row[column];
  if (typeof value !== 'number') throw unexpected(column);
  return value;
}

/** The bytes in a column, read as UTF-8. @throws TypeError where the database holds something else */
export function utf8(row: Row, column: string): string {
  const value = row[column];
  if (!(value instanceof Uint8Array)) throw unexpected(column);
  return Buffer.from(value).toString('utf8');
}

function unexpected(column: string): TypeError {
  return new TypeError(`The S3 index holds an unexpected value in column ${column}.`);
}
