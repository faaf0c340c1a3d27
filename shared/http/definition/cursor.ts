import { createHash } from 'node:crypto';
import * as z from 'zod';
import { badRequest } from '../../core/service-error.ts';
import type { Middleware } from './middleware.ts';

/** A position in a list. */
interface CursorPosition {
  /** Digest of the list. */
  mark: string;
  /** Sort key after which the page starts. */
  after: string;
}

const cursorOf = ({ mark, after }: CursorPosition): string =>
  Buffer.from(`after:${mark}:${after}`).toString('base64url');

/** Maximum bytes of a sort key in DynamoDB (1,024), minus the prefix of the entity. */
const sortKeyMaxBytes = 1000;

const placePattern = /^after:([A-Za-z0-9_-]{8}):(.+)$/s;

const cursorPattern = /^[A-Za-z0-9_-]+$/;

/** An opaque cursor of an earlier response. `handle` receives the sort key to continue after. */
export const Cursor = z
  .string()
  .max(2000, 'is too long to be a cursor')
  .regex(cursorPattern, 'is not a cursor of an earlier response')
  .refine((cursor) => decodeCursor(cursor) !== undefined, 'is not a cursor of an earlier response')
  .describe('Cursor of the next page, from the `Link` header of an earlier response.')
  .meta({ type: 'string', maxLength: 2000, pattern: cursorPattern.source });

/** Decode the position in a cursor; undefined for a text that is not a cursor of this service. */
function decodeCursor(cursor: string): CursorPosition | undefined {
  const [, mark = '', after = ''] =
    placePattern.exec(Buffer.from(cursor, 'base64url').toString('utf8')) ?? [];
  const isOurs = after !== '' && cursorOf({ mark, after }) === cursor;
  return isOurs && Buffer.byteLength(after) <= sortKeyMaxBytes ? { mark, after } : undefined;
}

/** A list with pages: the operation's name, its path parameters, and its query. */
interface List {
  name: string;
  path: unknown;
  query: unknown;
}

/** Return the cursor of the page after a sort key. */
export const encodeCursor = (list: List, after: string): string => cursorOf({ mark: markOf(list), after });

/** Query parameters that choose the part of a list; all others choose the list. */
const pageParameters = new Set([
  ...['limit', 'cursor', 'after', 'tail', 'line'],
  ...['fields', 'values', 'experiments'],
]);

const markLength = 8;

/**
 * Return a digest that distinguishes the cursors of one list from those of others. It is not secret: a caller who
 * may read a list may read any part of it.
 */
function markOf({ name, path, query }: List): string {
  const filters = given(query).filter(([parameter]) => !pageParameters.has(parameter));
  const text = JSON.stringify([name, given(path), filters]);
  return createHash('sha256').update(text).digest('base64url').slice(0, markLength);
}

const given = (values: unknown): [string, string][] =>
  Object.entries(values ?? {})
    .flatMap(([name, value]): [string, string][] => (value === undefined ? [] : [[name, String(value)]]))
    .sort(([one], [other]) => (one < other ? -1 : 1));

/**
 * Replace the cursor in the query, `cursor` or `after`, by its sort key. Throws a 400 problem for the cursor of another
 * list, whose key means nothing in this one.
 */
export const resolveCursor: Middleware = (exchange) => {
  const { endpoint, input } = exchange;
  if (input === undefined) return;
  const { path } = input;
  const query: Readonly<Record<string, unknown>> = { ...(input.query as object | undefined) };
  const name = ['cursor', 'after'].find((one) => typeof query[one] === 'string');
  if (name === undefined) return;
  const place = decodeCursor(String(query[name]));
  if (place?.mark !== markOf({ name: endpoint.name, path, query })) {
    const message = 'belongs to another list, or to this list with other parameters';
    throw badRequest([{ in: 'query', name, message }]);
  }
  exchange.input = { ...input, query: { ...query, [name]: place.after } };
};
