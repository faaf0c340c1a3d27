import { badRequest } from '../../core/service-error.ts';
import { decodeCursor, markOf } from '../definition/cursor.ts';
import type { Before } from '../definition/exchange.ts';

/**
 * Puts the sort key that a cursor leads to in its place. Throws a 400 problem for the cursor of another list: its key
 * would lead anywhere in this one.
 */
export const resolveCursor: Before = (exchange) => {
  const { endpoint, input } = exchange;
  if (input === undefined) return;
  const { path, query } = input;
  if (typeof query !== 'object' || query === null || !('cursor' in query)) return;
  if (typeof query.cursor !== 'string') return;
  const place = decodeCursor(query.cursor);
  const list = { name: endpoint.name, path, query };
  if (place?.mark !== markOf(list)) {
    const message = 'is of another list, or of this one with other parameters';
    throw badRequest([{ in: 'query', name: 'cursor', message }]);
  }
  exchange.input = { ...input, query: { ...query, cursor: place.after } };
};
