import * as z from 'zod';
import { type Flattened, flatten, NamedValues } from '../lists/named-values.ts';
import { type MetricSummary, summariesIn, summaryColumns } from '../metrics/metric-summary.ts';
import { BlockGoneError, blockLists, type Manifest, ManifestRecord } from '../packed/block-list.ts';
import type { Columns, UnpackedColumns } from '../packed/packed-columns.ts';
import type { UnreadableRecordError } from '../table/item.ts';
import { recordType } from '../table/record.ts';
import { type Item, readPage, type TableReader } from '../table/table.ts';
import { type CatalogueMark, cataloguePartition, readMarks } from './catalogue-mark.ts';
import { type Experiment, experimentKey, parseExperiment } from './experiment.ts';
import { Attributes, type ExperimentRow, rowOf, SegmentRow } from './experiment-row.ts';
import { NewestTimes, newestOfAll, newestTimes, type SegmentChoice } from './segment-choice.ts';
import { nothingTracked, readTrackingOfEach } from './tracking.ts';

/**
 * Read the search rows of a project's experiments, in no order. Return undefined if the catalogue is not complete
 * yet.
 * @param choice the segments to read; by default all
 */
export async function readCatalogue(
  records: TableReader<'records'>,
  project_id: string,
  choice?: SegmentChoice,
): Promise<CatalogueRows | undefined> {
  for (let round = 1; ; round += 1) {
    try {
      return await readOnce(records, project_id, choice);
    } catch (error) {
      if (!(error instanceof BlockGoneError) || round === maxRounds) throw error;
    }
  }
}

export interface CatalogueRows {
  rows: ExperimentRow[];
  unreadable: readonly UnreadableRecordError[];
  /** Number of marks at the time of the read. */
  marks: number;
  /** Least number of experiments in segments that were left out. */
  left: number;
  manifest: CatalogueManifest;
  /** Return the newest times of all rows, also of segments that were left out. Undefined if they are unknown. */
  newest: () => NewestTimes | undefined;
}

export type CatalogueManifest = Manifest<Omit<SegmentRef, 'id'>, CatalogueState>;

const SegmentRef = z.object({
  id: z.string(),
  /** Experiment ids of its first and last row. */
  first: z.string(),
  last: z.string(),
  rows: z.number().int(),
  /** Indexes of outdated rows: of experiments in a later segment, or of deleted experiments. */
  dead: z.array(z.number().int()),
  /** Absent in segments of releases that did not store it. */
  newest: NewestTimes.optional(),
});
export type SegmentRef = z.infer<typeof SegmentRef>;

const CatalogueState = z.object({
  /** Whether every experiment of the project is in a segment or has a mark. */
  complete: z.boolean(),
  /** Highest experiment id that has a mark. Experiments of releases without a catalogue get marks in steps. */
  marked_until: z.string().nullable(),
  /** Excess of the project's counter of experiments. */
  surplus: z.number().int(),
});
type CatalogueState = z.infer<typeof CatalogueState>;

async function readOnce(
  records: TableReader<'records'>,
  project_id: string,
  choice: SegmentChoice | undefined,
): Promise<CatalogueRows | undefined> {
  const marks: CatalogueMark[] = await readMarks(records, project_id);
  const present = marks.filter(({ removed }) => !removed).map(({ experiment_id }) => experiment_id);
  const [manifest, tail] = await Promise.all([
    catalogueLists.readManifest(records, cataloguePartition(project_id)),
    readTail(records, project_id, present, choice),
  ]);
  if (!manifest.state.complete) return undefined;
  const marked = new Set(marks.map(({ experiment_id }) => experiment_id));
  /** Marked experiments of the segments that were read. */
  const known = new Set<string>();
  const read = async (refs: readonly SegmentRef[]): Promise<ExperimentRow[]> => {
    const segments = await readSegments(records, project_id, refs);
    const live = segments.map((segment, index) => {
      const dead = new Set(refs[index]?.dead);
      if (dead.size === 0 && marked.size === 0) return segment;
      for (const { experiment_id } of segment) if (marked.has(experiment_id)) known.add(experiment_id);
      return segment.filter(({ experiment_id }, at) => !dead.has(at) && !marked.has(experiment_id));
    });
    return live.flat();
  };
  const { rows, left } =
    choice === undefined
      ? { rows: tail.rows.concat(await read(manifest.blocks)), left: [] }
      : await readChosen(choice, manifest.blocks, tail.rows, read);
  const isLeft = ({ experiment_id }: CatalogueMark) =>
    !known.has(experiment_id) &&
    left.some(({ first, last }) => experiment_id >= first && experiment_id <= last);
  return {
    rows,
    unreadable: tail.unreadable,
    marks: marks.length,
    // A row of an experiment with a mark counts in the tail.
    left:
      tail.left.length +
      left.reduce((sum, ref) => sum + ref.rows - ref.dead.length, 0) -
      marks.filter((mark) => mark.folded && isLeft(mark)).length,
    manifest,
    newest: () =>
      newestOfAll([
        newestTimes([...tail.rows, ...tail.left]),
        ...manifest.blocks.map(({ newest }) => newest),
      ]),
  };
}

/** Return rows with those of the chosen segments, and the segments that were left out. */
async function readChosen(
  choice: SegmentChoice,
  refs: readonly SegmentRef[],
  tail: readonly ExperimentRow[],
  read: (refs: readonly SegmentRef[]) => Promise<ExperimentRow[]>,
): Promise<{ rows: ExperimentRow[]; left: SegmentRef[] }> {
  let rows = [...tail];
  let times = choice.timesOf(rows);
  const left = new Set(refs);
  const take = async (some: readonly SegmentRef[]) => {
    const more = await read(some);
    rows = rows.concat(more);
    times = times.concat(choice.timesOf(more));
    for (const ref of some) left.delete(ref);
  };
  const chosen = refs.flatMap((ref) => {
    const newest = choice.newest(ref.newest);
    return newest === undefined ? [] : [{ ref, newest }];
  });
  const isDated = ({ newest }: { newest: number }) => newest < Number.POSITIVE_INFINITY;
  await take(chosen.flatMap((one) => (isDated(one) ? [] : [one.ref])));
  const dated = chosen.filter(isDated).sort((a, b) => b.newest - a.newest);
  // Most pages need one segment. A page that few rows match needs many, which would be as many reads one by one.
  for (let size = 1; dated[0] !== undefined && !choice.isFull(times, dated[0].newest); size *= 2)
    await take(dated.splice(0, size).map(({ ref }) => ref));
  return { rows, left: [...left] };
}

/**
 * Catalogue of a project: the search rows of its experiments. Experiments without recent changes are in segments,
 * which are immutable blocks that a process caches. The other experiments have marks (`catalogue-mark.ts`), and a
 * search reads them from their records. A search reads the marks first, then the manifest. So an experiment that
 * is folded in between is in both.
 */
export const catalogueLists = blockLists<Omit<SegmentRef, 'id'>, CatalogueState>({
  manifest: recordType('catalogue-manifest', ManifestRecord),
  prefix: '',
  parse: (json) => Stored.parse(json),
  initial: { complete: false, marked_until: null, surplus: 0 },
});

const Stored = z.object({ blocks: z.array(SegmentRef), state: CatalogueState });

/**
 * Read the rows of these experiments from their records. Deleted experiments have none.
 * @param choice leaves out the tracking data of experiments with other statuses, which are `left`
 * @returns `waiting`: the ids of trainings that wait in a line
 */
export async function readTail(
  records: TableReader<'records'>,
  project_id: string,
  experiment_ids: readonly string[],
  choice?: SegmentChoice,
): Promise<{
  rows: ExperimentRow[];
  left: Experiment[];
  waiting: Set<string>;
  unreadable: UnreadableRecordError[];
}> {
  const batches: string[][] = [];
  for (let from = 0; from < experiment_ids.length; from += keysAtOnce)
    batches.push(experiment_ids.slice(from, from + keysAtOnce));
  const unreadable: UnreadableRecordError[] = [];
  const rows: ExperimentRow[] = [];
  const left: Experiment[] = [];
  const waiting = new Set<string>();
  const read = async (batch: readonly string[]) => {
    const ofBatch = records.batchGet(batch.map((id) => experimentKey(project_id, id)));
    const pairs = batch.map((experiment_id) => ({ project_id, experiment_id }));
    const ahead = choice === undefined ? readTrackingOfEach(records, pairs) : undefined;
    const [stored] = await Promise.all([ofBatch, ahead]);
    const items = stored.filter((item): item is Item => item !== undefined);
    const page = readPage({ items, next: undefined }, parseExperiment);
    const [chosen = [], others = []] = choice === undefined ? [page.items] : choice.divide(page.items);
    const tracked = await (ahead ?? readTrackingOfEach(records, chosen));
    unreadable.push(...(page.unreadable ?? []), ...tracked.unreadable);
    for (const { experiment_id, line_ticket } of page.items)
      if (line_ticket !== null) waiting.add(experiment_id);
    left.push(...others);
    return chosen.map((item) => rowOf(item, tracked.of.get(item.experiment_id) ?? nothingTracked));
  };
  for (let from = 0; from < batches.length; from += batchesAtOnce)
    for (const some of await Promise.all(batches.slice(from, from + batchesAtOnce).map(read)))
      rows.push(...some);
  return { rows, left, waiting, unreadable };
}

const keysAtOnce = 100;
const batchesAtOnce = 4;

/** Read the rows of segments. @throws BlockGoneError */
export async function readSegments(
  records: TableReader<'records'>,
  project_id: string,
  refs: readonly SegmentRef[],
): Promise<ExperimentRow[][]> {
  const pk = cataloguePartition(project_id);
  const unpack = (columns: Parameters<typeof segmentRows>[1]) => segmentRows(project_id, columns);
  const segments: ExperimentRow[][] = [];
  for await (const segment of catalogueLists.readBlocks(records, pk, refs, unpack)) segments.push(segment);
  return segments;
}

/** Unpack the rows of a segment, and estimate their bytes. */
export function segmentRows(
  project_id: string,
  { json, numbers, jsonBytes }: UnpackedColumns,
): { block: ExperimentRow[]; bytes: number } {
  const segment = Segment.parse(json);
  const lookups = {
    tags: namedTexts(segment.tags),
    params: namedTexts(segment.params),
    metrics: namedMetrics(segment.metrics.names, numbers),
    metricNames: segment.metrics.names,
    last: numbers[lastColumn] ?? none,
  };
  // Measured: 100,000 runs with 35 MB of JSON take 44 MB of memory.
  const bytes = 1.5 * jsonBytes + numbers.reduce((sum, { byteLength }) => sum + byteLength, 0);
  return { block: segment.rows.map((row, index) => new SegmentRow(project_id, row, index, lookups)), bytes };
}

const Named = z.object({
  names: z.array(z.string()),
  ends: z.array(z.number()),
  rows: z.array(z.number()),
  values: z.array(z.string()),
});

const Segment = z.object({
  rows: z.array(Attributes),
  tags: Named,
  params: Named,
  metrics: z.object({ names: z.array(z.string()) }),
});

const namedTexts = ({ names, ends, rows, values }: Flattened<string>): NamedValues<string> =>
  new NamedValues(names, ends, rows, (index) => values[index] ?? '');

function namedMetrics(
  names: readonly string[],
  numbers: readonly Float64Array[],
): NamedValues<MetricSummary> {
  const [ends = none, rows = none, ...columns] = numbers;
  return new NamedValues(names, ends, rows, summariesIn(columns));
}

const none = new Float64Array();
/** Index of the column of last values. */
const lastColumn = 2;

/** Maximum reads if other processes replace segments during a read. */
const maxRounds = 5;

/** Build the columns of a segment. */
export function segmentColumns(rows: readonly ExperimentRow[]): Columns {
  const attributes = rows.map((row) => Attributes.parse({ ...row, deleted_at: row.deleted_at ?? null }));
  const metrics = flatten(rows.map((row) => row.metrics));
  return {
    json: {
      rows: attributes,
      tags: flatten(rows.map((row) => row.tags)),
      params: flatten(rows.map((row) => row.params)),
      metrics: { names: metrics.names },
    },
    numbers: [
      Float64Array.from(metrics.ends),
      Float64Array.from(metrics.rows),
      ...summaryColumns(metrics.values),
    ],
  };
}
