/**
 * Search of experiments, for every interface. `searchExperiments(records, project_ids, { filter, order_by, limit, after })`
 * returns a page of rows (`experiment-row.ts`); `readFound` returns the whole records of a page. Filters and orders are
 * parsed by `shared/search` with a vocabulary over `ExperimentRow`.
 */

import { breathe } from '../../core/stop-signal.ts';
import type { Filter } from '../../search/parse-filter.ts';
import { decodePosition, encodePosition, type OrderTerm, RowOrder } from '../../search/row-order.ts';
import { selectPage } from '../../search/select-page.ts';
import { countersKey, salvageCounters } from '../projects/project.ts';
import type { UnreadableRecordError } from '../table/item.ts';
import { type Item, readPage, type TableReader, type TableWriter } from '../table/table.ts';
import { type CatalogueRows, readCatalogue } from './catalogue.ts';
import { type Experiment, experimentKey, listExperiments, parseExperiment } from './experiment.ts';
import { type ExperimentRow, rowOf } from './experiment-row.ts';
import { foldCatalogue, minFold, repairCatalogue } from './fold-catalogue.ts';
import { nothingTracked, readTrackingOf, readTrackingOfEach, type Tracking } from './tracking.ts';

/**
 * A page of the experiments of these projects that a filter finds, in an order and then newest first. It knows every write
 * that was acknowledged before it began. Experiments that come or go between two pages move no other.
 * @param search `after` is one that {@link isSearchPosition} takes
 */
export async function searchExperiments(
  records: TableReader<'records'>,
  project_ids: readonly string[],
  {
    filter,
    order_by = [],
    limit = Number.POSITIVE_INFINITY,
    after,
    prepare,
    read = () => readProjects(records, [...new Set(project_ids)]),
  }: ExperimentSearch,
): Promise<FoundExperiments> {
  const projects = await read();
  if (isWriter(records)) await foldProjects(records, projects);
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

/** Rows of all experiments of these projects. It writes nothing. */
export async function readProjects(
  records: TableReader<'records'>,
  project_ids: readonly string[],
): Promise<ProjectRows[]> {
  const found: ProjectRows[] = [];
  for (let from = 0; from < project_ids.length; from += projectsAtOnce) {
    await breathe();
    const some = project_ids.slice(from, from + projectsAtOnce);
    found.push(...(await Promise.all(some.map((project_id) => readProject(records, project_id)))));
  }
  return found;
}

/** The rows of a project. */
export interface ProjectRows extends Pick<FoundExperiments, 'rows' | 'unreadable'> {
  /** What is to be written after the read, so that the next one finds it in segments. */
  fold?: (records: TableWriter<'records'>) => Promise<void>;
}

export interface FoundExperiments {
  rows: ExperimentRow[];
  /** Where the next page goes on, at most 1,000 bytes with four terms of an order; undefined on the last. */
  next: string | undefined;
  /** Records that this version of the service cannot read. */
  unreadable: UnreadableRecordError[];
}

/** Projects that are read at once. */
export const projectsAtOnce = 16;

/** Rows of all experiments of a project, from its catalogue where it has all of them. */
async function readProject(records: TableReader<'records'>, project_id: string): Promise<ProjectRows> {
  const { counted, catalogue } = await readCounted(records, project_id);
  const isKnown = catalogue !== undefined && isWhole(catalogue, counted);
  const found: ProjectRows = isKnown
    ? { rows: catalogue.rows, unreadable: [...catalogue.unreadable] }
    : await readRecords(records, project_id);
  const fold = async (writer: TableWriter<'records'>): Promise<void> => {
    if (catalogue !== undefined && !isKnown) {
      const ids = found.rows.map(({ experiment_id }) => experiment_id);
      await repairCatalogue(writer, project_id, catalogue, ids, counted);
    }
    if (found.rows.length > 0 && (catalogue === undefined || catalogue.marks >= minFold))
      await foldCatalogue(writer, project_id, { milliseconds: foldingMilliseconds });
  };
  return { ...found, fold };
}

/** A project's catalogue, where it is complete, and how many experiments there were before it was read. */
async function readCounted(
  records: TableReader<'records'>,
  project_id: string,
): Promise<{ counted: number; catalogue: CatalogueRows | undefined }> {
  const [together, found] = await Promise.all([
    countExperiments(records, project_id),
    readCatalogue(records, project_id),
  ]);
  if (found === undefined || isWhole(found, together)) return { counted: together, catalogue: found };
  // One that was recorded between the two reads is counted and not found. Counted first, it is not.
  const counted = await countExperiments(records, project_id);
  return { counted, catalogue: await readCatalogue(records, project_id) };
}

async function countExperiments(records: TableReader<'records'>, project_id: string): Promise<number> {
  const counters = await records.get(countersKey(project_id));
  return counters === undefined ? 0 : salvageCounters(counters).experiments;
}

const isWhole = ({ rows, unreadable, manifest }: CatalogueRows, counted: number): boolean =>
  rows.length + unreadable.length + manifest.state.surplus >= counted;

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

/** Experiments that are read at once. */
const readAtOnce = 100;

/** Milliseconds that a search spends on folding what it read from records, so that the next one need not. */
const foldingMilliseconds = 1500;

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
  /** What {@link readProjects} found of these projects, where it was begun before. */
  read?: (() => Promise<ProjectRows[]>) | undefined;
}

const isWriter = (records: TableReader<'records'>): records is TableWriter<'records'> =>
  'writable' in records && records.writable === true;

async function foldProjects(
  records: TableWriter<'records'>,
  projects: readonly ProjectRows[],
): Promise<void> {
  for (let from = 0; from < projects.length; from += projectsAtOnce)
    await Promise.all(projects.slice(from, from + projectsAtOnce).map(({ fold }) => fold?.(records)));
}

/** The order that the terms make of rows: newest first where they leave it open. */
export const experimentOrder = (terms: readonly OrderTerm<ExperimentRow>[]): RowOrder<ExperimentRow> =>
  new RowOrder(terms, ({ experiment_id }) => experiment_id);

/** A row with the records of its experiment. */
export interface FoundExperiment {
  row: ExperimentRow;
  experiment: Experiment;
  tracking: Tracking;
}

/** Whether a text is where a page in this order may have ended. */
export const isSearchPosition = (text: string, terms: readonly OrderTerm<ExperimentRow>[]): boolean => {
  const position = decodePosition(text);
  return position !== undefined && experimentOrder(terms).takes(position);
};

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
