import { createHash } from 'node:crypto';
import * as z from 'zod';

/** A list that can be paged through: the operation's name, its path parameters, and its query. */
export interface List {
  name: string;
  path: unknown;
  query: unknown;
}

/** A place in a list. */
interface CursorPosition {
  /** Digest of the list that it is of. */
  mark: string;
  /** Sort key to go on after. */
  after: string;
}

/** Query parameters that choose how much of a list is answered; every other one chooses which list it is. */
const pageParameters = new Set(['limit', 'cursor', 'tail', 'fields']);
const markLength = 8;

const given = (values: unknown): [string, string][] =>
  Object.entries(values ?? {})
    .flatMap(([name, value]): [string, string][] => (value === undefined ? [] : [[name, String(value)]]))
    .sort(([one], [other]) => (one < other ? -1 : 1));

/** What tells the cursors of one list from those of others. No secret: whoever may read a list may be anywhere in it. */
export function markOf({ name, path, query }: List): string {
  const filters = given(query).filter(([parameter]) => !pageParameters.has(parameter));
  const text = JSON.stringify([name, given(path), filters]);
  return createHash('sha256').update(text).digest('base64url').slice(0, markLength);
}

const cursorOf = ({ mark, after }: CursorPosition): string =>
  Buffer.from(`after:${mark}:${after}`).toString('base64url');

/** The cursor that leads on after a sort key of a list. */
export const encodeCursor = (list: List, after: string): string => cursorOf({ mark: markOf(list), after });

/** What a sort key takes (1,024 bytes), less the prefix that an entity puts before it. */
const sortKeyMaxBytes = 1000;
const placePattern = /^after:([A-Za-z0-9_-]{8}):(.+)$/s;

/** The place that a cursor leads to; undefined for a text that was never encoded here. */
export function decodeCursor(cursor: string): CursorPosition | undefined {
  const [, mark = '', after = ''] =
    placePattern.exec(Buffer.from(cursor, 'base64url').toString('utf8')) ?? [];
  const isOurs = after !== '' && cursorOf({ mark, after }) === cursor;
  return isOurs && Buffer.byteLength(after) <= sortKeyMaxBytes ? { mark, after } : undefined;
}

const cursorPattern = /^[A-Za-z0-9_-]+$/;

/** An opaque cursor of an earlier answer. What a behaviour receives is the sort key to go on after. */
export const Cursor = z
  .string()
  .max(2000, 'is too long to be a cursor')
  .regex(cursorPattern, 'is not a cursor of an earlier answer')
  .refine((cursor) => decodeCursor(cursor) !== undefined, 'is not a cursor of an earlier answer')
  .describe('Cursor of the next page, from the `Link` header of an earlier response.')
  .meta({ type: 'string', maxLength: 2000, pattern: cursorPattern.source });
