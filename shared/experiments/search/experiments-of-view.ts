import { ServiceError } from '../../core/service-error.ts';
import type { Experiment } from '../../data/experiments/experiment.ts';
import type { ExperimentRow } from '../../data/experiments/experiment-row.ts';
import { readFound, searchExperiments } from '../../data/experiments/search-experiments.ts';
import type { Tracking } from '../../data/experiments/tracking.ts';
import type { TableReader } from '../../data/table/table.ts';
import { parseFilter } from '../../search/parse-filter.ts';
import { parseOrder } from '../../search/row-order.ts';
import { SearchSyntaxError } from '../../search/scanner.ts';
import { SearchSurroundings } from './search-surroundings.ts';

/**
 * Return the first experiments of a view, in its order. It reads the filter as a search of its project
 * does: names of users and best values count.
 */
export async function experimentsOfView(
  { records, accounts, now }: ViewReading,
  project_id: string,
  view: { filter: string; order: string },
  limit: number,
): Promise<{ all: ViewedExperiment[]; isMore: boolean }> {
  const surroundings = new SearchSurroundings({ records, accounts }, now());
  try {
    const parsed = parseFilter(view.filter, surroundings.vocabulary);
    const order_by = parseOrder(view.order, surroundings.vocabulary);
    const names = [...parsed.names, ...order_by.map(({ name }) => name)];
    const { rows, next } = await searchExperiments(records, [project_id], {
      filter: {
        ...parsed,
        matches: (row: ExperimentRow) => row.deleted_at === undefined && parsed.matches(row),
      },
      order_by,
      limit,
      prepare: surroundings.before([project_id], names),
    });
    return { all: (await readFound(records, rows)).items, isMore: next !== undefined };
  } catch (error) {
    // No experiment meets a filter that cannot be read. The reason may name params that the link hides.
    if (error instanceof SearchSyntaxError) return nothing;
    if (error instanceof ServiceError && error.kind === 'bad-request') return nothing;
    throw error;
  }
}

const nothing = { all: [], isMore: false };

/** An experiment of a view. */
export interface ViewedExperiment {
  experiment: Experiment;
  tracking: Tracking;
}

/** What reading a view needs. */
export interface ViewReading {
  records: TableReader<'records'>;
  accounts: TableReader<'accounts'>;
  now(): Date;
}
