import { newId } from '../../core/new-id.ts';
import { isFinal } from '../jobs/job-status.ts';
import { packBlock, tryRewrite } from '../packed/block-list.ts';
import type { TableReader, TableWriter, Write } from '../table/table.ts';
import { tryWrite } from '../table/write-label.ts';
import {
  type CatalogueManifest,
  catalogueLists,
  readSegments,
  readTail,
  type SegmentRef,
  segmentColumns,
} from './catalogue.ts';
import {
  beginFolding,
  type CatalogueMark,
  cataloguePartition,
  endFolding,
  findUnmarked,
  leaveInTail,
  markAge,
  readMarks,
} from './catalogue-mark.ts';
import { experimentsPartition } from './experiment.ts';
import type { ExperimentRow } from './experiment-row.ts';

/**
 * Fold experiments that nobody changes into segments, for some time: `milliseconds`, at most one step longer. Every step
 * is one transaction on condition that nobody else did it, and a crash between two leaves them marked.
 * @param least marks from which on there is something to do
 * @param most experiments that one step reads
 */
export async function foldCatalogue(
  records: TableWriter<'records'>,
  project_id: string,
  { milliseconds, least = minFold, most = maxRead }: { milliseconds: number; least?: number; most?: number },
): Promise<void> {
  const end = Date.now() + milliseconds;
  for (let goesOn = true; goesOn; ) {
    const manifest = await catalogueLists.readManifest(records, cataloguePartition(project_id));
    // Once all are marked, they are folded.
    if (manifest.state.complete)
      goesOn = await foldSome(records, project_id, manifest, Date.now(), { least, most });
    else await markExisting(records, project_id, manifest);
    goesOn &&= Date.now() < end;
  }
}

/** Marks from which on folding is worth its writes. */
export const minFold = 64;

/** Experiments folded by one transaction, which takes 100 writes. */
const maxFold = 80;

const maxRead = 20 * maxFold;

/** Fold some marked experiments into segments. False where there are too few, or another process folds them. */
async function foldSome(
  records: TableWriter<'records'>,
  project_id: string,
  manifest: CatalogueManifest,
  now: number,
  { least, most }: { least: number; most: number },
): Promise<boolean> {
  const marks = (await readMarks(records, project_id)).filter(({ large }) => !large);
  if (marks.length < least) return false;
  const { quiet, read } = await findQuiet(records, project_id, marks, most, now);
  if (quiet.length < least) return false;
  const removed = quiet.filter((mark) => mark.removed).slice(0, maxRemoved);
  const others = quiet.filter((mark) => !mark.removed).slice(0, maxFold - removed.length);
  let bytes = 0;
  const chosen = [...removed, ...others].filter(({ experiment_id }, index) => {
    const row = read.get(experiment_id);
    bytes += row === undefined ? 0 : bytesOfRow(row);
    return bytes <= foldMaxBytes || index === 0;
  });
  const begun = chosen.map((mark) => beginFolding(project_id, mark));
  if (!(await tryWrite(records.write(...begun.map(({ write }) => write))))) return false;
  const folding = begun.map(({ mark }) => mark);
  const wanted = folding.filter(({ removed }) => !removed).map(({ experiment_id }) => experiment_id);
  // Read again: whoever changed one before its stamp was changed is seen, and nobody can change one unseen from here on.
  const { rows } = await readTail(records, project_id, wanted);
  const known = new Set(rows.map(({ experiment_id }) => experiment_id));
  const done = folding.filter(({ removed, experiment_id }) => removed || known.has(experiment_id));
  return tryRewrite(() => writeSegments(records, project_id, manifest, done, rows));
}

/** Marked experiments that nobody is going to change soon, as many as one fold takes or a few more, with their rows. */
async function findQuiet(
  records: TableReader<'records'>,
  project_id: string,
  marks: readonly CatalogueMark[],
  most: number,
  now: number,
): Promise<{ quiet: CatalogueMark[]; read: Map<string, ExperimentRow> }> {
  const quiet = marks.filter(({ removed }) => removed);
  const read = new Map<string, ExperimentRow>();
  const present = marks.filter(({ removed }) => !removed);
  // Where not all are read, each fold begins elsewhere, so that none stays unread for ever.
  const start = present.length <= most ? 0 : Math.floor(Math.random() * present.length);
  const turned = [...present.slice(start), ...present.slice(0, start)].slice(0, most);
  for (let from = 0; from < turned.length && read.size < maxFold; from += maxWindow) {
    const some = turned.slice(from, from + maxWindow);
    const { rows } = await readTail(
      records,
      project_id,
      some.map(({ experiment_id }) => experiment_id),
    );
    const known = new Map(rows.map((row) => [row.experiment_id, row]));
    for (const mark of some) {
      const row = known.get(mark.experiment_id);
      if (row === undefined) continue;
      const isStill = row.kind === 'logged' && markAge(mark, now) > quietMilliseconds;
      if (!isFinal(row.status) && !isStill) continue;
      quiet.push(mark);
      read.set(mark.experiment_id, row);
    }
  }
  return { quiet, read };
}

/** Experiments that one fold reads at once, and altogether: thousands may run, of which none can be folded. */
const maxWindow = 4 * maxFold;

/** An experiment that a client records is folded, though it runs, once its mark is so old: milliseconds. */
const quietMilliseconds = 300_000;

/** Most experiments that were deleted and that one fold takes out of segments: a transaction takes 4 MB. */
const maxRemoved = 4;

const bytesOfRow = ({ tags, params, metrics, note }: ExperimentRow): number =>
  Buffer.byteLength(JSON.stringify([[...tags], [...params], [...metrics.keys()], note])) + 60 * metrics.size;

/** Most bytes of the experiments that are folded together, before compression: a transaction takes 4 MB. */
const foldMaxBytes = 2_000_000;

/** Replace some segments by others with further rows, and end the folding of these marks. False where another did first. */
async function writeSegments(
  records: TableWriter<'records'>,
  project_id: string,
  manifest: CatalogueManifest,
  marks: readonly CatalogueMark[],
  rows: readonly ExperimentRow[],
): Promise<boolean> {
  const pk = cataloguePartition(project_id);
  const refs = await withDead(
    records,
    project_id,
    manifest.blocks,
    new Set(marks.map(({ experiment_id }) => experiment_id)),
  );
  const removed = marks.flatMap((mark) => (mark.removed ? [mark.experiment_id] : []));
  // Nothing stays of what was deleted. Besides, the last segment grows, and one that is mostly dead is written anew.
  const purged = refs.filter((ref) => ref.dead.length > 0 && spans(ref, removed)).slice(0, maxRemoved);
  const half = refs.find((ref) => ref.dead.length > live(ref));
  const open = refs.slice(-1).find((ref) => live(ref) < openRows);
  const rewritten = [...new Set([...purged, half, open])].filter((ref) => ref !== undefined);
  const former = await readSegments(records, project_id, rewritten);
  const kept = former.flatMap((segment, index) => {
    const dead = new Set(rewritten[index]?.dead);
    return segment.filter((_, at) => !dead.has(at));
  });
  const together = [...kept, ...rows].sort((one, other) =>
    one.experiment_id < other.experiment_id ? -1 : 1,
  );
  const { segments, large } = packSegments(together);
  const tooLarge = new Set(large.map(({ experiment_id }) => experiment_id));
  const blocks = [...refs.filter((ref) => !rewritten.includes(ref)), ...segments.map(({ ref }) => ref)];
  const writes: Write[] = [
    catalogueLists.putManifest(pk, manifest, { blocks, state: manifest.state }),
    ...segments.map(({ ref, packed }) => catalogueLists.putBlock(pk, ref.id, packed)),
    ...rewritten.map(({ id }) => catalogueLists.deleteBlock(pk, id)),
    ...marks.map((mark) =>
      tooLarge.has(mark.experiment_id) ? leaveInTail(project_id, mark) : endFolding(project_id, mark),
    ),
  ];
  return tryWrite(records.write(...writes));
}

/** The references with rows of these experiments dead. */
async function withDead(
  records: TableReader<'records'>,
  project_id: string,
  refs: readonly SegmentRef[],
  experiment_ids: ReadonlySet<string>,
): Promise<SegmentRef[]> {
  const touched = refs.filter((ref) => spans(ref, experiment_ids));
  const segments = await readSegments(records, project_id, touched);
  const rowsOf = new Map(touched.map(({ id }, index) => [id, segments[index] ?? []]));
  return refs.map((ref) => {
    const dead = new Set(ref.dead);
    for (const [index, { experiment_id }] of (rowsOf.get(ref.id) ?? []).entries())
      if (experiment_ids.has(experiment_id)) dead.add(index);
    return { ...ref, dead: [...dead] };
  });
}

/** Whether a segment may hold one of these experiments: it is sorted by id. */
const spans = ({ first, last }: SegmentRef, experiment_ids: Iterable<string>): boolean =>
  [...experiment_ids].some((id) => id >= first && id <= last);

const live = ({ rows, dead }: SegmentRef): number => rows - dead.length;

/** A segment of fewer rows is the one that grows. */
const openRows = 400;

/** The rows in segments that fit an item each, and those that fit none. */
export function packSegments(rows: readonly ExperimentRow[]): {
  segments: { ref: SegmentRef; packed: Uint8Array }[];
  large: ExperimentRow[];
} {
  if (rows.length === 0) return { segments: [], large: [] };
  const packed = rows.length > maxSegmentRows ? undefined : packBlock(segmentColumns(rows));
  const [first, last] = [rows[0], rows.at(-1)];
  if (packed !== undefined && first !== undefined && last !== undefined) {
    const ref = {
      id: newId(),
      first: first.experiment_id,
      last: last.experiment_id,
      rows: rows.length,
      dead: [],
    };
    return { segments: [{ ref, packed }], large: [] };
  }
  if (rows.length === 1) return { segments: [], large: [...rows] };
  const half = rows.length > maxSegmentRows ? maxSegmentRows : Math.ceil(rows.length / 2);
  const [one, other] = [packSegments(rows.slice(0, half)), packSegments(rows.slice(half))];
  return { segments: [...one.segments, ...other.segments], large: [...one.large, ...other.large] };
}

/** Rows of a segment at most. */
const maxSegmentRows = 500;

/** Give marks to some experiments of releases without a catalogue; the catalogue is complete once all have one. */
async function markExisting(
  records: TableWriter<'records'>,
  project_id: string,
  manifest: CatalogueManifest,
): Promise<void> {
  const { items, next } = await records.query({
    pk: experimentsPartition(project_id),
    after: manifest.state.marked_until ?? undefined,
    limit: maxFold,
  });
  const ids = items.map(({ sk }) => sk);
  const marks = await findUnmarked(records, project_id, ids);
  const marked_until = ids.at(-1) ?? manifest.state.marked_until;
  const state = { ...manifest.state, complete: next === undefined, marked_until };
  const put = catalogueLists.putManifest(cataloguePartition(project_id), manifest, {
    blocks: manifest.blocks,
    state,
  });
  await tryWrite(records.write(put, ...marks));
}

/**
 * Fold after an experiment was recorded, one time in 32, so that no search finds thousands that were never folded.
 * What goes wrong is left to the next time: the experiment is on record.
 */
export async function foldNowAndThen(
  records: TableWriter<'records'>,
  project_id: string,
  experiment_id: string,
): Promise<void> {
  if (!experiment_id.endsWith(sampled)) return;
  await foldCatalogue(records, project_id, { milliseconds: 200, most: readByTheWay }).catch(() => undefined);
}

/** Ends of ids, of which one in 32 is. */
const sampled = '0';

/** Those that a fold reads for whoever has just recorded another: while hundreds run, it mostly finds none. */
const readByTheWay = 2 * maxFold;

/**
 * Mark experiments that the catalogue lacks: a release without one has recorded them since. Where it lacks none, the
 * project's counter is too high, which is noted.
 * @param counted experiments by that counter
 */
export async function repairCatalogue(
  records: TableWriter<'records'>,
  project_id: string,
  { rows, manifest }: { rows: readonly ExperimentRow[]; manifest: CatalogueManifest },
  experiment_ids: readonly string[],
  counted: number,
): Promise<void> {
  const known = new Set(rows.map(({ experiment_id }) => experiment_id));
  const lacking = experiment_ids.filter((id) => !known.has(id)).slice(0, maxFold);
  if (lacking.length > 0) {
    const marks = await findUnmarked(records, project_id, lacking);
    // None lacks its mark where they were recorded since the catalogue was read.
    if (marks.length > 0) await tryWrite(records.write(...marks));
    return;
  }
  const state = { ...manifest.state, surplus: Math.max(0, counted - experiment_ids.length) };
  const pk = cataloguePartition(project_id);
  await tryWrite(records.write(catalogueLists.putManifest(pk, manifest, { blocks: manifest.blocks, state })));
}
