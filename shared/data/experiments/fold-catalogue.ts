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
  readSomeMarks,
} from './catalogue-mark.ts';
import { experimentsPartition } from './experiment.ts';
import type { ExperimentRow } from './experiment-row.ts';
import { newestTimes } from './segment-choice.ts';

/**
 * Fold unchanged experiments into segments for `milliseconds`, plus at most one step. The transactions of a step
 * fail if another process did the same. A crash in between leaves the experiments marked.
 * @param least minimum number of marks for a fold
 * @param most maximum experiments that one step reads
 */
export async function foldCatalogue(
  records: TableWriter<'records'>,
  project_id: string,
  { milliseconds, least = minFold, most = maxRead }: { milliseconds: number; least?: number; most?: number },
): Promise<void> {
  const end = Date.now() + milliseconds;
  for (let goesOn = true; goesOn; ) {
    const manifest = await catalogueLists.readManifest(records, cataloguePartition(project_id));
    // Fold only after all experiments have marks.
    if (manifest.state.complete)
      goesOn = await foldSome(records, project_id, manifest, Date.now(), { least, most });
    else await markExisting(records, project_id, manifest);
    goesOn &&= Date.now() < end;
  }
}

/** Minimum number of marks that makes a fold worth its writes. */
export const minFold = 64;

/** Maximum experiments in one transaction, which allows 100 writes. */
const maxFold = 80;

const maxRead = 20 * maxFold;

/** Fold some marked experiments into segments. Return false if they are too few, or another process folds them. */
async function foldSome(
  records: TableWriter<'records'>,
  project_id: string,
  manifest: CatalogueManifest,
  now: number,
  { least, most }: { least: number; most: number },
): Promise<boolean> {
  const all =
    most === readByTheWay
      ? await readSomeMarks(records, project_id, most)
      : await readMarks(records, project_id);
  const marks = all.filter(({ large }) => !large);
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
  // Read again after the new stamps. This read sees every earlier change, and every later change must replace the
  // stamp.
  const { rows } = await readTail(records, project_id, wanted);
  const known = new Set(rows.map(({ experiment_id }) => experiment_id));
  const done = folding.filter(({ removed, experiment_id }) => removed || known.has(experiment_id));
  return tryRewrite(() => writeSegments(records, project_id, manifest, done, rows));
}

/**
 * Return marked experiments that are unlikely to change soon, with their rows. Return as many as one fold takes,
 * or a few more.
 */
async function findQuiet(
  records: TableReader<'records'>,
  project_id: string,
  marks: readonly CatalogueMark[],
  most: number,
  now: number,
): Promise<{ quiet: CatalogueMark[]; read: Map<string, ExperimentRow> }> {
  const isByTheWay = most === readByTheWay;
  const quiet = marks.filter(({ removed }) => removed);
  const read = new Map<string, ExperimentRow>();
  const present = marks.filter(({ removed }) => !removed);
  // Begin at a random mark. So every experiment is read eventually, also where one fold cannot read all.
  const start = Math.floor(Math.random() * present.length);
  const turned = [...present.slice(start), ...present.slice(0, start)].slice(0, most);
  for (let from = 0; from < turned.length && read.size < maxFold; ) {
    const some = turned.slice(from, from + (isByTheWay && from === 0 ? probed : maxWindow));
    from += some.length;
    const { rows, waiting } = await readTail(
      records,
      project_id,
      some.map(({ experiment_id }) => experiment_id),
    );
    const known = new Map(rows.map((row) => [row.experiment_id, row]));
    for (const mark of some) {
      const row = known.get(mark.experiment_id);
      if (row === undefined) continue;
      const isStill = row.kind === 'logged' && markAge(mark, now) > quietMilliseconds;
      if (!isFinal(row.status) && !isStill && !waiting.has(row.experiment_id)) continue;
      quiet.push(mark);
      read.set(mark.experiment_id, row);
    }
    if (isByTheWay && read.size === 0) break;
  }
  return { quiet, read };
}

/** Experiments that a fold reads before it looks whether they are enough. Thousands may be running, and none of these can be folded. */
const maxWindow = maxFold;

/** Minimum age in milliseconds of a mark before a running client-recorded experiment is folded. */
const quietMilliseconds = 300_000;

/** Maximum deleted experiments that one fold removes from segments. A transaction takes 4 MB. */
const maxRemoved = 4;

const bytesOfRow = ({ tags, params, metrics, note }: ExperimentRow): number =>
  Buffer.byteLength(JSON.stringify([[...tags], [...params], [...metrics.keys()], note])) + 60 * metrics.size;

/** Maximum bytes of the experiments in one fold, before compression. A transaction takes 4 MB. */
const foldMaxBytes = 2_000_000;

/**
 * Replace some segments with new ones that include these rows, and end the folding of these marks. Return false if
 * another process was faster.
 */
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
  // Rewrite segments with deleted experiments, so no data of them remain. Also extend the last segment, and
  // rewrite one whose rows are mostly dead, or whose newest times are unknown.
  const purged = refs.filter((ref) => ref.dead.length > 0 && spans(ref, removed)).slice(0, maxRemoved);
  const poor =
    refs.find((ref) => ref.dead.length > live(ref)) ?? refs.find(({ newest }) => newest === undefined);
  const open = refs.slice(-1).find((ref) => live(ref) < openRows);
  const rewritten = [...new Set([...purged, poor, open])].filter((ref) => ref !== undefined);
  const former = await readSegments(records, project_id, rewritten);
  const kept = former.flatMap((segment, index) => {
    const dead = new Set(rewritten[index]?.dead);
    return segment.filter((_, at) => !dead.has(at));
  });
  const together = [...kept, ...rows].sort((a, b) => (a.experiment_id < b.experiment_id ? -1 : 1));
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

/** Return the references with the rows of these experiments marked as dead. */
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

/** Whether a segment may hold one of these experiments. Segments are sorted by id. */
const spans = ({ first, last }: SegmentRef, experiment_ids: Iterable<string>): boolean =>
  [...experiment_ids].some((id) => id >= first && id <= last);

const live = ({ rows, dead }: SegmentRef): number => rows - dead.length;

/** The last segment grows while it has fewer live rows than this. */
const openRows = 400;

/** Pack rows into segments that each fit into one item. Also return the rows that fit into none. */
export function packSegments(rows: readonly ExperimentRow[]): {
  segments: { ref: SegmentRef; packed: Uint8Array }[];
  large: ExperimentRow[];
} {
  if (rows.length === 0) return { segments: [], large: [] };
  const isTooMuch = rows.length > maxSegmentRows || (rows.length > 1 && bytesOfRows(rows) > segmentMaxBytes);
  const packed = isTooMuch ? undefined : packBlock(segmentColumns(rows));
  const [first, last] = [rows[0], rows.at(-1)];
  if (packed !== undefined && first !== undefined && last !== undefined) {
    const ref = {
      id: newId(),
      first: first.experiment_id,
      last: last.experiment_id,
      rows: rows.length,
      dead: [],
      newest: newestTimes(rows),
    };
    return { segments: [{ ref, packed }], large: [] };
  }
  if (rows.length === 1) return { segments: [], large: [...rows] };
  const half = rows.length > maxSegmentRows ? maxSegmentRows : Math.ceil(rows.length / 2);
  const [one, other] = [packSegments(rows.slice(0, half)), packSegments(rows.slice(half))];
  return { segments: [...one.segments, ...other.segments], large: [...one.large, ...other.large] };
}

/** Maximum rows of a segment. */
const maxSegmentRows = 500;

/** Maximum bytes of the rows of a segment before compression: a search parses them without a turn for others. */
const segmentMaxBytes = 4_000_000;

const bytesOfRows = (rows: readonly ExperimentRow[]): number =>
  rows.reduce((sum, row) => sum + bytesOfRow(row), 0);

/** Mark some experiments of releases without a catalogue. The catalogue is complete once all have a mark. */
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
 * Fold after one in 32 experiments that were recorded or left their line, so nobody has to read thousands of unfolded
 * experiments. Ignore errors, because the experiment is already recorded; a later fold retries.
 */
export async function foldNowAndThen(
  records: TableWriter<'records'>,
  project_id: string,
  experiment_id: string,
): Promise<void> {
  if (!experiment_id.endsWith(sampled)) return;
  // One step: several in a second would take the writes of the project's catalogue from those who begin trainings.
  await foldCatalogue(records, project_id, { milliseconds: 0, most: readByTheWay }).catch(() => undefined);
}

/** Last character of one in 32 ids. */
const sampled = '0';

/** Maximum experiments that such a fold reads. */
const readByTheWay = 2 * maxFold;

/** Experiments that such a fold reads first. If all of them run, most of the others run, too. */
const probed = 16;

/**
 * Mark experiments that are missing from the catalogue, because a release without a catalogue recorded them. If
 * none is missing, the project's counter is too high; record the excess.
 * @param counted value of that counter
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
    // If all have marks, they were recorded after the read of the catalogue.
    if (marks.length > 0) await tryWrite(records.write(...marks));
    return;
  }
  const state = { ...manifest.state, surplus: Math.max(0, counted - experiment_ids.length) };
  const pk = cataloguePartition(project_id);
  await tryWrite(records.write(catalogueLists.putManifest(pk, manifest, { blocks: manifest.blocks, state })));
}
