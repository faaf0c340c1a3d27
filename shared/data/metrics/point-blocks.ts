import { createHash } from 'node:crypto';
import * as z from 'zod';
import { newId } from '../../core/new-id.ts';
import { jobPartition } from '../jobs/job.ts';
import { blockLists, type Manifest, ManifestRecord, packBlock, tryRewrite } from '../packed/block-list.ts';
import type { Columns } from '../packed/packed-columns.ts';
import { recordType } from '../table/record.ts';
import type { TableWriter, Write } from '../table/table.ts';
import { tryWrite } from '../table/write-label.ts';
import { metricChunks, type PointColumns } from './job-metrics.ts';

const PointsRef = z.object({
  id: z.string(),
  /** Group number, in report order. Blocks of one group come from the same chunks. */
  group: z.number().int(),
  /** Lowest and highest digest of the metric names in the block. */
  from: z.string(),
  to: z.string(),
  points: z.number().int(),
  /** Number of its first point, in the report order of the experiment. */
  first: z.number().int(),
});
export type PointsRef = z.infer<typeof PointsRef>;

const PointsState = z.object({
  /** Name of the last chunk whose points are in blocks. */
  covered: z.string().nullable(),
  /** Number of points in blocks. */
  points: z.number().int(),
});
type PointsState = z.infer<typeof PointsState>;

const Stored = z.object({ blocks: z.array(PointsRef), state: PointsState });
export type PointsManifest = Manifest<Omit<PointsRef, 'id'>, PointsState>;

/**
 * Points of an experiment by metric, so the history of one metric needs no read of the others. Blocks store
 * columns. A new group of blocks is built after every 64 chunks. The chunks stay, because a delete costs as much
 * as a write, and readers of all metrics read them in report order.
 */
export const pointLists = blockLists<Omit<PointsRef, 'id'>, PointsState>({
  manifest: recordType('points-manifest', ManifestRecord),
  prefix: 'POINTS#',
  parse: (json) => Stored.parse(json),
  initial: { covered: null, points: 0 },
});

/** Number of chunks that triggers a new group of blocks. */
export const chunksPerGroup = 64;
/** Number of points after which a group takes no further chunk. A transaction takes 4 MB. */
const groupPoints = 100_000;
/** Maximum points of a block. */
const blockPoints = 32_768;
/** A group with fewer points is merged into the next group. */
const smallGroup = 20_000;

/** Points of one metric. Each point has the same index in all columns. */
export interface PointRun {
  name: string;
  /** Numbers of the points in the report order of the experiment. */
  numbers: Float64Array;
  /** NaN means no step. */
  steps: Float64Array;
  /** Milliseconds. */
  times: Float64Array;
  values: Float64Array;
}

export const digestOfName = (name: string): string =>
  createHash('sha256').update(name).digest('hex').slice(0, 16);

/** Points of a chunk, with their numbers. */
interface NumberedColumns extends PointColumns {
  /** Number of the first point. */
  first: number;
}

/** Group the points of chunks by metric. The chunks must be in report order. */
export function runsOf(chunks: readonly NumberedColumns[]): PointRun[] {
  const indexes = new Map<string, number>();
  const lengths: number[] = [];
  // Index of the run of each name of a chunk.
  const places = chunks.map(({ names, metrics }) => {
    const runOf = names.map((name) => {
      const index = indexes.get(name) ?? indexes.size;
      if (index === lengths.length) lengths.push(0);
      indexes.set(name, index);
      return index;
    });
    for (const metric of metrics) {
      const index = runOf[metric] ?? 0;
      lengths[index] = (lengths[index] ?? 0) + 1;
    }
    return runOf;
  });
  const runs = Array.from(indexes, ([name, index]): PointRun => {
    const column = () => new Float64Array(lengths[index] ?? 0);
    return { name, numbers: column(), steps: column(), times: column(), values: column() };
  });
  const filled = new Uint32Array(runs.length);
  for (const [chunk, { metrics, steps, times, values, first }] of chunks.entries()) {
    for (let index = 0; index < metrics.length; index += 1) {
      const place = places[chunk]?.[metrics[index] ?? 0] ?? 0;
      const run = runs[place];
      const at = filled[place] ?? 0;
      if (run === undefined) continue;
      filled[place] = at + 1;
      run.numbers[at] = first + index;
      run.steps[at] = steps[index] ?? Number.NaN;
      run.times[at] = times[index] ?? 0;
      run.values[at] = values[index] ?? Number.NaN;
    }
  }
  return runs;
}

const together = (columns: readonly Float64Array[]): Float64Array => {
  const all = new Float64Array(columns.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const column of columns) {
    all.set(column, at);
    at += column.length;
  }
  return all;
};

function runColumns(runs: readonly PointRun[]): Columns {
  return {
    json: runs.map(({ name, values }) => [name, values.length]),
    numbers: [
      together(runs.map(({ numbers }) => numbers)),
      together(runs.map(({ steps }) => steps)),
      together(runs.map(({ times }) => times)),
      together(runs.map(({ values }) => values)),
    ],
  };
}

const Names = z.array(z.tuple([z.string(), z.number().int()]));
const none = new Float64Array();

/** Unpack the runs of a block. */
export function unpackRuns({ json, numbers }: Columns): { block: PointRun[]; bytes: number } {
  const [order = none, steps = none, times = none, values = none] = numbers;
  let at = 0;
  const block = Names.parse(json).map(([name, length]): PointRun => {
    const [from, to] = [at, at + length];
    at = to;
    return {
      name,
      numbers: order.subarray(from, to),
      steps: steps.subarray(from, to),
      times: times.subarray(from, to),
      values: values.subarray(from, to),
    };
  });
  return { block, bytes: numbers.reduce((sum, { byteLength }) => sum + byteLength, 1000) };
}

const part = ({ name, ...columns }: PointRun, from: number, to: number): PointRun => ({
  name,
  numbers: columns.numbers.subarray(from, to),
  steps: columns.steps.subarray(from, to),
  times: columns.times.subarray(from, to),
  values: columns.values.subarray(from, to),
});

const lengthOf = (runs: readonly PointRun[]): number =>
  runs.reduce((sum, { values }) => sum + values.length, 0);

/** Split runs into two halves with equal numbers of points. */
function halves(runs: readonly PointRun[]): [PointRun[], PointRun[]] {
  let room = Math.ceil(lengthOf(runs) / 2);
  const [one, other]: [PointRun[], PointRun[]] = [[], []];
  for (const run of runs) {
    const taken = Math.min(room, run.values.length);
    room -= taken;
    if (taken > 0) one.push(part(run, 0, taken));
    if (taken < run.values.length) other.push(part(run, taken, run.values.length));
  }
  return [one, other];
}

/** Pack runs into blocks. Each block fits into one item. */
function packRuns(runs: readonly PointRun[], group: number): { ref: PointsRef; packed: Uint8Array }[] {
  const points = lengthOf(runs);
  const packed = points > blockPoints ? undefined : packBlock(runColumns(runs));
  if (packed === undefined && points > 1) return halves(runs).flatMap((half) => packRuns(half, group));
  if (packed === undefined) return [];
  const first = runs.reduce(
    (least, { numbers }) => Math.min(least, numbers[0] ?? least),
    Number.POSITIVE_INFINITY,
  );
  const [from, to] = [runs[0], runs.at(-1)].map((run) => digestOfName(run?.name ?? ''));
  return [{ ref: { id: newId(), group, from: from ?? '', to: to ?? '', points, first }, packed }];
}

/** Join the runs of each metric. Sort the metrics by the digests of their names. */
function joinRuns(runs: readonly PointRun[]): PointRun[] {
  const byName = Map.groupBy(runs, ({ name }) => name);
  const joined = [...byName].map(([name, some]): { digest: string; run: PointRun } => {
    const digest = digestOfName(name);
    const [only] = some;
    if (some.length === 1 && only !== undefined) return { digest, run: only };
    const ordered = some.toSorted((a, b) => (a.numbers[0] ?? 0) - (b.numbers[0] ?? 0));
    const run = {
      name,
      numbers: together(ordered.map(({ numbers }) => numbers)),
      steps: together(ordered.map(({ steps }) => steps)),
      times: together(ordered.map(({ times }) => times)),
      values: together(ordered.map(({ values }) => values)),
    };
    return { digest, run };
  });
  return joined.sort((a, b) => (a.digest < b.digest ? -1 : 1)).map(({ run }) => run);
}

/** Build blocks from some chunks. Return false if they are too few, or another process does the same. */
async function compactSome(
  records: TableWriter<'records'>,
  job_id: string,
  isForced: boolean,
): Promise<boolean> {
  const pk = jobPartition(job_id);
  const manifest: PointsManifest = await pointLists.readManifest(records, pk);
  const chunks: NumberedColumns[] = [];
  let { covered, points } = manifest.state;
  let read = 0;
  for await (const chunk of metricChunks(records, job_id, covered ?? undefined)) {
    chunks.push({ ...(await chunk.read()), first: points });
    covered = chunk.name;
    points += chunk.rows;
    read += chunk.rows;
    if (read >= groupPoints || chunks.length === 2 * chunksPerGroup) break;
  }
  const isEnough = isForced ? chunks.length > 0 : chunks.length >= chunksPerGroup || read >= groupPoints;
  if (!isEnough) return false;
  const runs = runsOf(chunks);
  const last = manifest.blocks.at(-1)?.group;
  const lastGroup = manifest.blocks.filter(({ group }) => group === last);
  const lastPoints = lastGroup.reduce((sum, ref) => sum + ref.points, 0);
  const again = lastPoints < smallGroup ? lastGroup : [];
  for await (const block of pointLists.readBlocks(records, pk, again, unpackRuns))
    for (const run of block) runs.push(run);
  const blocks = packRuns(joinRuns(runs), (last ?? 0) + 1);
  const kept = manifest.blocks.filter((ref) => !again.includes(ref));
  const state = { covered, points };
  return tryWrite(
    records.write(
      pointLists.putManifest(pk, manifest, { blocks: [...kept, ...blocks.map(({ ref }) => ref)], state }),
      ...blocks.map(({ ref, packed }) => pointLists.putBlock(pk, ref.id, packed)),
      ...again.map(({ id }) => pointLists.deleteBlock(pk, id)),
    ),
  );
}

/**
 * Build blocks from the chunks of a job, for every 64 new chunks. The writer of the chunks calls this. Each step
 * is one transaction, so after a crash the next call processes the chunks.
 * @param isForced also for fewer chunks
 */
export async function compactPoints(
  records: TableWriter<'records'>,
  job_id: string,
  isForced = false,
): Promise<void> {
  while (await tryRewrite(() => compactSome(records, job_id, isForced)));
}

/** Remove points from the blocks of a job, group by group. The others keep their numbers. */
export async function filterBlocks(
  records: TableWriter<'records'>,
  job_id: string,
  guard: Write,
  isKept: (name: string, step: number | null) => boolean,
): Promise<void> {
  const pk = jobPartition(job_id);
  const { blocks } = await pointLists.readManifest(records, pk);
  for (const group of new Set(blocks.map((ref) => ref.group))) {
    const manifest: PointsManifest = await pointLists.readManifest(records, pk);
    const old = manifest.blocks.filter((ref) => ref.group === group);
    const runs: PointRun[] = [];
    let isChanged = false;
    for await (const block of pointLists.readBlocks(records, pk, old, unpackRuns))
      for (const run of block) {
        const kept = keptOf(run, isKept);
        isChanged ||= kept.values.length < run.values.length;
        if (kept.values.length > 0) runs.push(kept);
      }
    if (!isChanged) continue;
    const next = runs.length === 0 ? [] : packRuns(joinRuns(runs), group);
    const others = manifest.blocks.filter((ref) => ref.group !== group);
    const refs = [...others, ...next.map(({ ref }) => ref)].toSorted((a, b) => a.group - b.group);
    await records.write(
      guard,
      pointLists.putManifest(pk, manifest, { blocks: refs, state: manifest.state }),
      ...next.map(({ ref, packed }) => pointLists.putBlock(pk, ref.id, packed)),
      ...old.map(({ id }) => pointLists.deleteBlock(pk, id)),
    );
  }
}

function keptOf(run: PointRun, isKept: (name: string, step: number | null) => boolean): PointRun {
  const { name, steps } = run;
  const keeps = Array.from(steps, (step) => isKept(name, Number.isNaN(step) ? null : step));
  if (!keeps.includes(false)) return run;
  const pick = (column: Float64Array) => column.filter((_, at) => keeps[at] === true);
  return {
    name,
    numbers: pick(run.numbers),
    steps: pick(steps),
    times: pick(run.times),
    values: pick(run.values),
  };
}
