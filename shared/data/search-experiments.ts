/**
 * Search of experiments, for every interface. `searchExperiments(records, project_ids, { filter, order_by, limit, after })`
 * returns a page of rows (`experiment-row.ts`); `readFound` returns the whole records of a page. Filters and orders are
 * parsed by `shared/search` with a vocabulary over `ExperimentRow`.
 */

import type { Filter } from '../search/parse-filter.ts';
import type { OrderTerm } from '../search/parse-order.ts';
import { decodePosition, encodePosition, RowOrder } from '../search/row-order.ts';
import { selectPage } from '../search/select-page.ts';
import { type CatalogueRows, readCatalogue } from './catalogue.ts';
import { type Experiment, experimentKey, listExperiments, parseExperiment } from './experiment.ts';
import { type ExperimentRow, rowOf } from './experiment-row.ts';
import { foldCatalogue, foldLeast, repairCatalogue } from './fold-catalogue.ts';
import { countersKey, salvageCounters } from './project.ts';
import { readPage } from './read-page.ts';
import type { Item, TableReader, TableWriter } from './table.ts';
import { nothingTracked, readTrackingOf, readTrackingOfEach, type Tracking } from './tracking.ts';
import type { UnreadableRecordError } from './unreadable-record.ts';

/** Experiments that are read at once. */
const readAtOnce = 100;

export interface ExperimentSearch {
  /** All experiments, where absent. */
  filter?: Filter<ExperimentRow> | undefined;
  /** Before newest first. */
  order_by?: readonly OrderTerm<ExperimentRow>[];
  /** Most rows; all where absent. */
  limit?: number | undefined;
  /** `next` of an earlier page of the same search. */
  after?: string | undefined;
  /** Told before rows are compared whose they are, where a name of the filter or the order has to be looked up. */
  prepare?: ((user_ids: ReadonlySet<string>) => Promise<void>) | undefined;
}

export interface FoundExperiments {
  rows: ExperimentRow[];
  /** Where the next page goes on, at most 1,000 bytes with four terms of an order; undefined on the last. */
  next: string | undefined;
  /** Records that this version of the service cannot read. */
  unreadable: UnreadableRecordError[];
}

/** A row with the records of its experiment. */
export interface FoundExperiment {
  row: ExperimentRow;
  experiment: Experiment;
  tracking: Tracking;
}

type ProjectRows = Pick<FoundExperiments, 'rows' | 'unreadable'>;

/** Rows of all experiments of a project, from their records. */
async function readRecords(records: TableReader<'records'>, project_id: string): Promise<ProjectRows> {
  const found: ProjectRows = { rows: [], unreadable: [] };
  let after: string | undefined;
  do {
    const page = await listExperiments(records, project_id, { limit: readAtOnce, after });
    const ids = page.items.map(({ experiment_id }) => experiment_id);
    const { of, unreadable } = await readTrackingOf(records, project_id, ids);
    found.rows.push(...page.items.map((one) => rowOf(one, of.get(one.experiment_id) ?? nothingTracked)));
    found.unreadable.push(...(page.unreadable ?? []), ...unreadable);
    after = page.next;
  } while (after !== undefined);
  return found;
}

/** Projects that are read at once. */
const projectsAtOnce = 16;
/** Milliseconds that a search spends on folding what it read from records, so that the next one need not. */
const foldingMilliseconds = 1500;

const isWriter = (records: TableReader<'records'>): records is TableWriter<'records'> =>
  'writable' in records && records.writable === true;

/** Rows of all experiments of a project, from its catalogue where it has all of them. */
async function readProject(records: TableReader<'records'>, project_id: string): Promise<ProjectRows> {
  // Read first: what begins later is in the catalogue and not counted here.
  const counters = await records.get(countersKey(project_id));
  const counted = counters === undefined ? 0 : salvageCounters(counters).experiments;
  const catalogue = await readCatalogue(records, project_id);
  const lacks = (known: CatalogueRows): boolean =>
    known.rows.length + known.unreadable.length + known.manifest.state.surplus < counted;
  const isWhole = catalogue !== undefined && !lacks(catalogue);
  const found: ProjectRows = isWhole
    ? { rows: catalogue.rows, unreadable: [...catalogue.unreadable] }
    : await readRecords(records, project_id);
  if (!isWriter(records)) return found;
  if (catalogue !== undefined && !isWhole) {
    const ids = found.rows.map(({ experiment_id }) => experiment_id);
    await repairCatalogue(records, project_id, catalogue, ids, counted);
  }
  if (found.rows.length > 0 && (catalogue === undefined || catalogue.marks >= foldLeast))
    await foldCatalogue(records, project_id, { milliseconds: foldingMilliseconds });
  return found;
}

async function readProjects(
  records: TableReader<'records'>,
  project_ids: readonly string[],
): Promise<ProjectRows[]> {
  const found: ProjectRows[] = [];
  for (let from = 0; from < project_ids.length; from += projectsAtOnce) {
    const some = project_ids.slice(from, from + projectsAtOnce);
    found.push(...(await Promise.all(some.map((project_id) => readProject(records, project_id)))));
  }
  return found;
}

/** The order that the terms make of rows: newest first where they leave it open. */
export const experimentOrder = (terms: readonly OrderTerm<ExperimentRow>[]): RowOrder<ExperimentRow> =>
  new RowOrder(terms, ({ experiment_id }) => experiment_id);

/** Whether a text is where a page in this order may have ended. */
export const isSearchPosition = (text: string, terms: readonly OrderTerm<ExperimentRow>[]): boolean => {
  const position = decodePosition(text);
  return position !== undefined && experimentOrder(terms).takes(position);
};

/**
 * A page of the experiments of these projects that a filter finds, in an order and then newest first. It knows every write
 * that was acknowledged before it began. Experiments that come or go between two pages move no other.
 * @param search `after` is one that {@link isSearchPosition} takes
 */
export async function searchExperiments(
  records: TableReader<'records'>,
  project_ids: readonly string[],
  { filter, order_by = [], limit = Number.POSITIVE_INFINITY, after, prepare }: ExperimentSearch,
): Promise<FoundExperiments> {
  const projects = await readProjects(records, [...new Set(project_ids)]);
  const unreadable = projects.flatMap((project) => project.unreadable);
  if (prepare !== undefined) {
    const user_ids = new Set<string>();
    for (const { rows } of projects) for (const { user_id } of rows) user_ids.add(user_id);
    await prepare(user_ids);
  }
  const rows = projects.flatMap((project) =>
    filter === undefined ? project.rows : project.rows.filter(filter.matches),
  );
  const position = after === undefined ? undefined : decodePosition(after);
  const page = selectPage(rows, experimentOrder(order_by), { limit, after: position });
  return { rows: page.rows, next: page.next && encodePosition(page.next), unreadable };
}

/** The records of rows that a search found, in their order, without those that were deleted since. */
export async function readFound(
  records: TableReader<'records'>,
  rows: readonly ExperimentRow[],
): Promise<{ items: FoundExperiment[]; unreadable: UnreadableRecordError[] }> {
  const items: FoundExperiment[] = [];
  const unreadable: UnreadableRecordError[] = [];
  for (let from = 0; from < rows.length; from += readAtOnce) {
    const some = rows.slice(from, from + readAtOnce);
    const keys = some.map(({ project_id, experiment_id }) => experimentKey(project_id, experiment_id));
    const stored = (await records.batchGet(keys)).filter((item): item is Item => item !== undefined);
    const page = readPage({ items: stored, next: undefined }, parseExperiment);
    unreadable.push(...(page.unreadable ?? []));
    const tracked = await readTrackingOfEach(records, page.items);
    unreadable.push(...tracked.unreadable);
    const known = new Map(some.map((row) => [row.experiment_id, row]));
    for (const experiment of page.items) {
      const { experiment_id } = experiment;
      const row = known.get(experiment_id);
      const tracking = tracked.of.get(experiment_id) ?? nothingTracked;
      if (row !== undefined) items.push({ row, experiment, tracking });
    }
  }
  return { items, unreadable };
}
