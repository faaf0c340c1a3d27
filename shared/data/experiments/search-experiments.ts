/**
 * Search of experiments for all interfaces. `searchExperiments(records, project_ids, { filter, order_by, limit,
 * after })` returns a page of rows (`experiment-row.ts`). `readFound` returns the full records of a page.
 * `shared/search` parses filters and orders with a vocabulary over `ExperimentRow`.
 */

import { breathe } from '../../core/stop-signal.ts';
import { filterRows } from '../../search/filter-rows.ts';
import type { Filter } from '../../search/parse-filter.ts';
import { decodePosition, encodePosition, type OrderTerm, RowOrder } from '../../search/row-order.ts';
import { selectPage } from '../../search/select-page.ts';
import { countersKey, salvageCounters } from '../projects/project.ts';
import type { UnreadableRecordError } from '../table/item.ts';
import { pagesOf } from '../table/pages-of.ts';
import { type Item, readPage, type TableReader, type TableWriter } from '../table/table.ts';
import { type CatalogueRows, readCatalogue } from './catalogue.ts';
import { type Experiment, experimentKey, listExperiments, parseExperiment } from './experiment.ts';
import { type ExperimentRow, rowOf } from './experiment-row.ts';
import { foldCatalogue, minFold, repairCatalogue } from './fold-catalogue.ts';
import { type NewestToNote, noteNewestOfProjects, readNewestOfProjects } from './newest-of-projects.ts';
import { type NewestTimes, newestTimes, type SegmentChoice, segmentChoice } from './segment-choice.ts';
import { nothingTracked, readTrackingOf, readTrackingOfEach, type Tracking } from './tracking.ts';

/**
 * Return a page of the experiments of these projects that match a filter, in an order and then newest first. The
 * search sees every write that was acknowledged before it began. Experiments added or removed between two pages do
 * not shift the others.
 * @param search `after` must be a position that {@link isSearchPosition} accepts
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
    read = () => {
      const choice = filter && after === undefined ? segmentChoice({ filter, order_by, limit }) : undefined;
      return readProjects(records, [...new Set(project_ids)], choice);
    },
  }: ExperimentSearch,
): Promise<FoundExperiments> {
  const projects = await read();
  if (isWriter(records)) {
    await foldProjects(records, projects);
    await noteNewestOfProjects(
      records,
      projects.flatMap(({ toNote }) => toNote ?? []),
    );
  }
  const unreadable = projects.flatMap((project) => project.unreadable);
  if (prepare !== undefined) {
    const user_ids = new Set<string>();
    for (const { rows } of projects) for (const { user_id } of rows) user_ids.add(user_id);
    await prepare(user_ids);
  }
  const all = projects.flatMap((project) => project.rows);
  const rows = filter === undefined ? all : await filterRows(all, filter);
  const position = after === undefined ? undefined : decodePosition(after);
  const page = await selectPage(rows, experimentOrder(order_by), { limit, after: position });
  return { rows: page.rows, next: page.next && encodePosition(page.next), unreadable };
}

/**
 * Read the rows of all experiments of these projects. This writes nothing.
 * @param choice the segments to read, for a search that needs no others
 */
export async function readProjects(
  records: TableReader<'records'>,
  project_ids: readonly string[],
  choice?: SegmentChoice,
): Promise<ProjectRows[]> {
  // One project is read at once, without a look at what is noted of it.
  return choice === undefined || project_ids.length === 1
    ? readAll(records, project_ids, choice)
    : readChosen(records, project_ids, choice);
}

/** Rows of a project. */
export interface ProjectRows extends Pick<FoundExperiments, 'rows' | 'unreadable'> {
  /** Fold the rows into segments after the read, so the next read finds them there. */
  fold?: (records: TableWriter<'records'>) => Promise<void>;
  /** Return the newest times of all rows of the project. Undefined if they are unknown. */
  newest?: () => NewestTimes | undefined;
  /** What the next search has to know in order to leave the project out. */
  toNote?: NewestToNote;
}

/** Read the projects that a page may need: those that have changed since a search noted their times, and then the newest ones. */
async function readChosen(
  records: TableReader<'records'>,
  project_ids: readonly string[],
  choice: SegmentChoice,
): Promise<ProjectRows[]> {
  const known = await readNewestOfProjects(records, project_ids);
  const projects: ProjectRows[] = [];
  let times: number[] = [];
  const take = async (ids: readonly string[]): Promise<void> => {
    for (const [index, project] of (await readAll(records, ids, choice)).entries()) {
      const project_id = ids[index] ?? '';
      const { stamp, newest: isKnown } = known.get(project_id) ?? {};
      const newest = stamp === undefined || isKnown ? undefined : project.newest?.();
      const toNote = stamp !== undefined && newest !== undefined && { project_id, stamp, newest };
      projects.push({ ...project, ...(toNote && { toNote }) });
      times = times.concat(choice.timesOf(project.rows));
    }
  };
  await take(project_ids.filter((project_id) => known.get(project_id)?.newest === undefined));
  const chosen = project_ids.flatMap((project_id) => {
    const noted = known.get(project_id)?.newest;
    const newest = noted && choice.newest(noted);
    return newest === undefined ? [] : [{ project_id, newest }];
  });
  chosen.sort((a, b) => (a.newest === b.newest ? 0 : b.newest - a.newest));
  // Most pages need few projects.
  for (let size = 4; chosen[0] !== undefined && !choice.isFull(times, chosen[0].newest); size *= 2)
    await take(chosen.splice(0, Math.min(size, projectsAtOnce)).map(({ project_id }) => project_id));
  return projects;
}

async function readAll(
  records: TableReader<'records'>,
  project_ids: readonly string[],
  choice: SegmentChoice | undefined,
): Promise<ProjectRows[]> {
  const found: ProjectRows[] = [];
  for (let from = 0; from < project_ids.length; from += projectsAtOnce) {
    // The first read joins what the request reads beside it.
    if (from > 0) await breathe();
    const some = project_ids.slice(from, from + projectsAtOnce);
    found.push(...(await Promise.all(some.map((project_id) => readProject(records, project_id, choice)))));
  }
  return found;
}

export interface FoundExperiments {
  rows: ExperimentRow[];
  /** Position of the next page; undefined on the last page. It has at most 950 bytes for an `order_by` of four terms. */
  next: string | undefined;
  /** Records that this version of the service cannot read. */
  unreadable: UnreadableRecordError[];
}

/** Number of projects to read in parallel. */
export const projectsAtOnce = 16;

/** Read the rows of all experiments of a project, from its catalogue if that is complete. */
async function readProject(
  records: TableReader<'records'>,
  project_id: string,
  choice?: SegmentChoice,
): Promise<ProjectRows> {
  const { counted, catalogue } = await readCounted(records, project_id, choice);
  const isKnown = catalogue !== undefined && isWhole(catalogue, counted);
  // Some segments cannot tell whether all experiments are there.
  if (choice !== undefined && catalogue !== undefined && !isKnown) return readProject(records, project_id);
  const projectRows: ProjectRows = isKnown
    ? { rows: catalogue.rows, unreadable: [...catalogue.unreadable], newest: catalogue.newest }
    : await readRecords(records, project_id);
  const fold = async (writer: TableWriter<'records'>): Promise<void> => {
    if (catalogue !== undefined && !isKnown) {
      const ids = projectRows.rows.map(({ experiment_id }) => experiment_id);
      await repairCatalogue(writer, project_id, catalogue, ids, counted);
    }
    if (projectRows.rows.length > 0 && (catalogue === undefined || catalogue.marks >= minFold))
      await foldCatalogue(writer, project_id, { milliseconds: foldingMilliseconds });
  };
  return { ...projectRows, fold };
}

/** Read a project's catalogue, if it is complete, and the number of experiments before that read. */
async function readCounted(
  records: TableReader<'records'>,
  project_id: string,
  choice: SegmentChoice | undefined,
): Promise<{ counted: number; catalogue: CatalogueRows | undefined }> {
  const [together, found] = await Promise.all([
    countExperiments(records, project_id),
    readCatalogue(records, project_id, choice),
  ]);
  if (found === undefined || isWhole(found, together)) return { counted: together, catalogue: found };
  // An experiment recorded between the two reads may be counted but missing from the catalogue. So count first,
  // then read again.
  const counted = await countExperiments(records, project_id);
  return { counted, catalogue: await readCatalogue(records, project_id, choice) };
}

async function countExperiments(records: TableReader<'records'>, project_id: string): Promise<number> {
  const counters = await records.get(countersKey(project_id));
  return counters === undefined ? 0 : salvageCounters(counters).experiments;
}

const isWhole = ({ rows, unreadable, left, manifest }: CatalogueRows, counted: number): boolean =>
  rows.length + unreadable.length + left + manifest.state.surplus >= counted;

/** Read the rows of all experiments of a project from their records. */
async function readRecords(records: TableReader<'records'>, project_id: string): Promise<ProjectRows> {
  const projectRows: ProjectRows = { rows: [], unreadable: [] };
  for await (const page of pagesOf((after) =>
    listExperiments(records, project_id, { limit: readAtOnce, after }),
  )) {
    const ids = page.items.map(({ experiment_id }) => experiment_id);
    const { of, unreadable } = await readTrackingOf(records, project_id, ids);
    projectRows.rows.push(
      ...page.items.map((item) => rowOf(item, of.get(item.experiment_id) ?? nothingTracked)),
    );
    projectRows.unreadable.push(...(page.unreadable ?? []), ...unreadable);
  }
  projectRows.newest = () => newestTimes(projectRows.rows);
  return projectRows;
}

/** Maximum experiments in one read. */
const readAtOnce = 100;

/** Milliseconds that a search spends on folding, so the next search reads fewer records: less than the search itself. */
const foldingMilliseconds = 150;

export interface ExperimentSearch {
  /** Default: all experiments. */
  filter?: Filter<ExperimentRow> | undefined;
  /** Terms of the order. Rows with equal terms are newest first. */
  order_by?: readonly OrderTerm<ExperimentRow>[];
  /** Maximum rows. Default: all. */
  limit?: number | undefined;
  /** `next` of an earlier page of the same search. */
  after?: string | undefined;
  /**
   * Called with the user ids of all rows before the comparison, so the caller can look up names for the filter or
   * order.
   */
  prepare?: ((user_ids: ReadonlySet<string>) => Promise<void>) | undefined;
  /** Return the result of {@link readProjects} for these projects, if that has already begun. */
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

/** Build the order of the terms. Rows with equal terms are newest first. */
export const experimentOrder = (terms: readonly OrderTerm<ExperimentRow>[]): RowOrder<ExperimentRow> =>
  new RowOrder(terms, ({ experiment_id }) => experiment_id);

/** Row with the records of its experiment. */
export interface FoundExperiment {
  row: ExperimentRow;
  experiment: Experiment;
  tracking: Tracking;
}

/** Whether a text is a valid position in this order. */
export const isSearchPosition = (text: string, terms: readonly OrderTerm<ExperimentRow>[]): boolean => {
  const position = decodePosition(text);
  return position !== undefined && experimentOrder(terms).takes(position);
};

/** Read the records of found rows, in the same order. Omit experiments that were deleted since. */
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
