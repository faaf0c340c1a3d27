import type { TableReader, TableWriter, Write } from '../table/table.ts';
import { tryWrite } from '../table/try-write.ts';
import { type CatalogueManifest, catalogueLists, readSegments, type SegmentRef } from './catalogue.ts';
import { type CatalogueMark, cataloguePartition, endFolding, leaveInTail } from './catalogue-mark.ts';
import type { ExperimentRow } from './experiment-row.ts';
import { packSegments } from './pack-segments.ts';

/** A segment of fewer rows is the one that grows. */
const openRows = 400;
/** Most experiments that were deleted and that one fold takes out of segments: a transaction takes 4 MB. */
export const maxRemoved = 4;

/** Whether a segment may hold one of these experiments: it is sorted by id. */
const spans = ({ first, last }: SegmentRef, experiment_ids: Iterable<string>): boolean =>
  [...experiment_ids].some((id) => id >= first && id <= last);

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

const live = ({ rows, dead }: SegmentRef): number => rows - dead.length;

/** Replace some segments by others with further rows, and end the folding of these marks. False where another did first. */
export async function writeSegments(
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
