import { ServiceError } from '../../shared/core/service-error.ts';
import type { Experiment } from '../../shared/data/experiments/experiment.ts';
import type { ExperimentRow } from '../../shared/data/experiments/experiment-row.ts';
import { readFound, searchExperiments } from '../../shared/data/experiments/search-experiments.ts';
import type { Tracking } from '../../shared/data/experiments/tracking.ts';
import type { LinkSubject } from '../../shared/data/projects/link.ts';
import type { Sweep } from '../../shared/data/sweeps/sweep.ts';
import type { TableReader } from '../../shared/data/table/table.ts';
import { SearchSurroundings } from '../../shared/experiments/search/search-surroundings.ts';
import { parseFilter } from '../../shared/search/parse-filter.ts';
import { parseOrder } from '../../shared/search/row-order.ts';
import { SearchSyntaxError } from '../../shared/search/scanner.ts';
import { maxShared } from './link.ts';

/**
 * Return the first experiments of a view, in its order. It reads the filter as a search of its project
 * does: names of users and best values count.
 */
export async function experimentsOfView(
  { records, accounts, now }: LinkReading,
  project_id: string,
  view: Extract<LinkSubject, { kind: 'view' }>,
): Promise<SharedExperiments> {
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
      limit: maxShared,
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

const nothing: SharedExperiments = { all: [], isMore: false };

/** An experiment that a link shows. */
export interface SharedExperiment {
  experiment: Experiment;
  tracking: Tracking;
}

/** The first experiments that a link shows. */
export interface SharedExperiments {
  all: SharedExperiment[];
  /** Whether there are more than {@link maxShared}. */
  isMore: boolean;
  /** The sweep of a link of one. */
  sweep?: Sweep | undefined;
}

/** What reading a link needs. */
export interface LinkReading {
  records: TableReader<'records'>;
  accounts: TableReader<'accounts'>;
  now(): Date;
}
