import { badRequest } from '../core/service-error.ts';
import { breathe } from '../core/stop-signal.ts';
import type { Filter } from './parse-filter.ts';

/**
 * Return the rows that match a filter. Other requests get their turns meanwhile, and the work ends with its request.
 * @throws ServiceError `bad-request` for a filter with too much work, which adds up over all calls with it, or with a name
 * that none of the rows has
 */
export async function filterRows<Row>(rows: Iterable<Row>, filter: Filter<Row>): Promise<Row[]> {
  requireNames(rows, filter);
  const found: Row[] = [];
  let turn = filter.steps();
  for (const row of rows) {
    if (filter.steps() >= turn) {
      await breathe();
      turn = filter.steps() + stepsOfTurn;
    }
    if (filter.matches(row)) found.push(row);
    if (filter.steps() > maxSteps) throw badRequest([{ in: 'query', name: 'filter', message: tooMuch }]);
  }
  return found;
}

/** Refuse names that stand without a group and that no row has: nothing would be found, or all, for no reason. */
function requireNames<Row>(rows: Iterable<Row>, filter: Filter<Row>): void {
  for (const { label, absence } of filter.names) {
    const fault = absence?.(rows);
    if (fault !== undefined)
      throw badRequest([{ in: 'query', name: 'filter', message: `has ${label}, ${fault}` }]);
  }
}

/** Steps between two looks at the time: some 0.5 ms. */
const stepsOfTurn = 40_000;

/** Most steps of the filter of a request: some 0.5 s. 100,000 rows have 300 each: 15 conditions, or a text of 280. */
const maxSteps = 30_000_000;

const tooMuch =
  'compares too many texts for one search; put the conditions that few rows meet first, use = instead of LIKE, or search fewer projects';
