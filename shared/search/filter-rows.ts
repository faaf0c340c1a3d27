import { badRequest, type ServiceError } from '../core/service-error.ts';
import { breathe } from '../core/stop-signal.ts';
import type { Filter } from './parse-filter.ts';
import { maxSteps } from './read-test.ts';

/**
 * Return the rows that match a filter. Other requests get their turns meanwhile, and the work ends with its request.
 * @throws ServiceError `bad-request` for a filter with too much work, which adds up over all calls with it, or with a name
 * that none of the rows has
 */
export async function filterRows<Row>(rows: Iterable<Row>, filter: Filter<Row>): Promise<Row[]> {
  const found: Row[] = [];
  let isEmpty = true;
  /** Names that stand without a group, and that no row has had so far. */
  let unseen = filter.names.filter(({ absence }) => absence !== undefined);
  let looks = 0;
  const steps = () => filter.steps() + stepsOfLook * looks;
  let turn = steps();
  for (const row of rows) {
    if (steps() >= turn) {
      await breathe();
      turn = steps() + stepsOfTurn;
    }
    if (unseen.length > 0) {
      looks += unseen.length;
      unseen = unseen.filter((name) => name.read(row) === undefined);
    }
    if (filter.matches(row)) found.push(row);
    if (steps() > maxSteps) throw refused(tooMuch);
    isEmpty = false;
  }
  // Nothing would be found, or all, for no reason.
  const [absent] = unseen;
  if (absent?.absence !== undefined && !isEmpty)
    throw refused(`has ${absent.label}, ${absent.absence(rows)}`);
  return found;
}

const refused = (message: string): ServiceError => badRequest([{ in: 'query', name: 'filter', message }]);

/** Steps of a look for a name in the params, metrics and tags of a row. */
const stepsOfLook = 20;

/** Steps between two looks at the time: some 0.5 ms. */
const stepsOfTurn = 40_000;

const tooMuch =
  'compares too many texts for one search; put the conditions that few rows meet first, use = instead of LIKE, or search fewer projects';
