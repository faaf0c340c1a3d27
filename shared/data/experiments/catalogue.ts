import * as z from 'zod';
import { BlockGoneError, blockLists, type Manifest, ManifestRecord } from '../packed/block-list.ts';
import { readPage } from '../table/read-page.ts';
import { recordType } from '../table/record.ts';
import type { Item, TableReader } from '../table/table.ts';
import type { UnreadableRecordError } from '../table/unreadable-record.ts';
import { type CatalogueMark, cataloguePartition, readMarks } from './catalogue-mark.ts';
import { segmentRows } from './catalogue-segment.ts';
import { experimentKey, parseExperiment } from './experiment.ts';
import { type ExperimentRow, rowOf } from './experiment-row.ts';
import { nothingTracked, readTrackingOfEach } from './tracking.ts';

const SegmentRef = z.object({
  id: z.string(),
  /** Ids of its first and last row. */
  first: z.string(),
  last: z.string(),
  rows: z.number().int(),
  /** Indexes of rows that are in a later segment, or of experiments that were deleted. */
  dead: z.array(z.number().int()),
});
export type SegmentRef = z.infer<typeof SegmentRef>;

const CatalogueState = z.object({
  /** Every experiment of the project is in a segment or has a mark. */
  complete: z.boolean(),
  /** Experiments up to this one have marks; those of releases without a catalogue get them one after the other. */
  marked_until: z.string().nullable(),
  /** By how many the project's counter of experiments is too high. */
  surplus: z.number().int(),
});
type CatalogueState = z.infer<typeof CatalogueState>;

const Stored = z.object({ blocks: z.array(SegmentRef), state: CatalogueState });

export type CatalogueManifest = Manifest<Omit<SegmentRef, 'id'>, CatalogueState>;

/**
 * The catalogue of a project: what search knows of its experiments. Those that nobody has changed for a while lie in
 * segments, immutable blocks that a process keeps; the others are marked (`catalogue-mark.ts`) and read from their
 * records. A search reads the marks first and the manifest then: what was folded in between is in both.
 */
export const catalogueLists = blockLists<Omit<SegmentRef, 'id'>, CatalogueState>({
  manifest: recordType('catalogue-manifest', ManifestRecord),
  prefix: '',
  parse: (json) => Stored.parse(json),
  initial: { complete: false, marked_until: null, surplus: 0 },
});

/** Reads that begin anew because segments were replaced meanwhile. */
const maxRounds = 5;
const keysAtOnce = 100;
const batchesAtOnce = 4;

export interface CatalogueRows {
  rows: ExperimentRow[];
  unreadable: readonly UnreadableRecordError[];
  /** Marks that there were. */
  marks: number;
  manifest: CatalogueManifest;
}

/** The rows of segments. @throws BlockGoneError */
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

/** Rows of these experiments as their records are; of those that were deleted there are none. */
export async function readTail(
  records: TableReader<'records'>,
  project_id: string,
  experiment_ids: readonly string[],
): Promise<{ rows: ExperimentRow[]; unreadable: UnreadableRecordError[] }> {
  const batches: string[][] = [];
  for (let from = 0; from < experiment_ids.length; from += keysAtOnce)
    batches.push(experiment_ids.slice(from, from + keysAtOnce));
  const unreadable: UnreadableRecordError[] = [];
  const rows: ExperimentRow[] = [];
  const read = async (batch: readonly string[]) => {
    const pairs = batch.map((experiment_id) => ({ project_id, experiment_id }));
    const [found, tracked] = await Promise.all([
      records.batchGet(batch.map((id) => experimentKey(project_id, id))),
      readTrackingOfEach(records, pairs),
    ]);
    const items = found.filter((item): item is Item => item !== undefined);
    const page = readPage({ items, next: undefined }, parseExperiment);
    unreadable.push(...(page.unreadable ?? []), ...tracked.unreadable);
    return page.items.map((one) => rowOf(one, tracked.of.get(one.experiment_id) ?? nothingTracked));
  };
  for (let from = 0; from < batches.length; from += batchesAtOnce)
    for (const found of await Promise.all(batches.slice(from, from + batchesAtOnce).map(read)))
      rows.push(...found);
  return { rows, unreadable };
}

async function readOnce(
  records: TableReader<'records'>,
  project_id: string,
): Promise<CatalogueRows | undefined> {
  const marks: CatalogueMark[] = await readMarks(records, project_id);
  const present = marks.filter(({ removed }) => !removed).map(({ experiment_id }) => experiment_id);
  const [manifest, tail] = await Promise.all([
    catalogueLists.readManifest(records, cataloguePartition(project_id)),
    readTail(records, project_id, present),
  ]);
  if (!manifest.state.complete) return undefined;
  const segments = await readSegments(records, project_id, manifest.blocks);
  const marked = new Set(marks.map(({ experiment_id }) => experiment_id));
  const live = segments.map((segment, index) => {
    const dead = new Set(manifest.blocks[index]?.dead);
    if (dead.size === 0 && marked.size === 0) return segment;
    return segment.filter(({ experiment_id }, at) => !dead.has(at) && !marked.has(experiment_id));
  });
  const rows = tail.rows.concat(...live);
  return { rows, unreadable: tail.unreadable, marks: marks.length, manifest };
}

/**
 * What search knows of the experiments of a project, in no order; undefined where the catalogue does not have all of
 * them yet.
 */
export async function readCatalogue(
  records: TableReader<'records'>,
  project_id: string,
): Promise<CatalogueRows | undefined> {
  for (let round = 1; ; round += 1) {
    try {
      return await readOnce(records, project_id);
    } catch (error) {
      if (!(error instanceof BlockGoneError) || round === maxRounds) throw error;
    }
  }
}
