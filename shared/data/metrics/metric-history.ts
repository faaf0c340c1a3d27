import { breathe } from '../../core/stop-signal.ts';
import { jobPartition } from '../jobs/job.ts';
import { BlockGoneError, cachedBlock, keepBlock } from '../packed/block-list.ts';
import type { TableReader } from '../table/table.ts';
import { metricChunks } from './job-metrics.ts';
import {
  digestOfName,
  type PointRun,
  type PointsManifest,
  type PointsRef,
  pointLists,
  runsOf,
  unpackRuns,
} from './point-blocks.ts';

/** Names of metrics. Undefined for all. */
type Names = ReadonlySet<string> | undefined;

/** Maximum reads if other processes replace blocks during a read. */
const maxRounds = 5;

/** Runs of the selected metrics. Their points come before those of the next group. */
interface RunGroup {
  runs: PointRun[];
  /** Number of the point after these. */
  end: number;
}

/** Chunk after the blocks. */
interface TailChunk extends RunGroup {
  name: string;
}

const bytesOfRuns = (runs: readonly PointRun[]): number =>
  runs.reduce((sum, { values }) => sum + 4 * values.byteLength, 1000);

/**
 * Yield the chunks that are not in blocks yet. Chunks never change and are only appended. So cache read chunks
 * like blocks, and read only later ones.
 */
async function* tailOf(
  records: TableReader<'records'>,
  job_id: string,
  { covered, points }: PointsManifest['state'],
  from: number,
): AsyncGenerator<RunGroup> {
  const nameOf = (index: number) => `${jobPartition(job_id)} TAIL#${covered ?? ''}#${index}`;
  let [index, end, last] = [0, points, covered ?? undefined];
  for (;;) {
    const known = cachedBlock(nameOf(index)) as TailChunk | undefined;
    if (known === undefined) break;
    if (known.end > from) yield known;
    ({ end, name: last } = known);
    index += 1;
  }
  for await (const { name, rows, read } of metricChunks(records, job_id, last)) {
    const first = end;
    end += rows;
    const chunk: TailChunk = { name, end, runs: runsOf([{ ...(await read()), first }]) };
    keepBlock(nameOf(index), chunk, bytesOfRuns(chunk.runs));
    index += 1;
    if (end > from) yield chunk;
  }
}

async function* groupsOnce(
  records: TableReader<'records'>,
  job_id: string,
  names: Names,
  from: number,
): AsyncGenerator<RunGroup> {
  const pk = jobPartition(job_id);
  const { blocks, state } = await pointLists.readManifest(records, pk);
  const digests = names && [...names].map(digestOfName);
  const isWanted = (ref: PointsRef): boolean =>
    digests === undefined || digests.some((digest) => digest >= ref.from && digest <= ref.to);
  const groups = [...Map.groupBy(blocks, ({ group }) => group).values()];
  const firstOf = (refs: readonly PointsRef[]) => Math.min(...refs.map(({ first }) => first));
  for (const [index, refs] of groups.entries()) {
    const next = groups[index + 1];
    const end = next === undefined ? state.points : firstOf(next);
    if (end <= from) continue;
    const runs: PointRun[] = [];
    for await (const block of pointLists.readBlocks(records, pk, refs.filter(isWanted), unpackRuns))
      for (const run of block) if (names?.has(run.name) ?? true) runs.push(run);
    yield { runs, end };
  }
  for await (const { runs, end } of tailOf(records, job_id, state, from))
    yield { runs: runs.filter(({ name }) => names?.has(name) ?? true), end };
}

/**
 * Yield the points of an experiment by metric, from blocks and from chunks that are not in blocks yet. Groups come
 * in report order. All points have numbers from `from` on.
 */
export async function* readRuns(
  records: TableReader<'records'>,
  job_id: string,
  names: Names,
  from = 0,
): AsyncGenerator<RunGroup> {
  let done = from;
  for (let round = 1; ; round += 1) {
    try {
      for await (const group of groupsOnce(records, job_id, names, done)) {
        const runs = group.runs.map((run) => behind(run, done));
        done = group.end;
        await breathe();
        yield { ...group, runs };
      }
      return;
    } catch (error) {
      if (!(error instanceof BlockGoneError) || round === maxRounds) throw error;
    }
  }
}

/** Return the number of points of an experiment, which is that of the next one. */
export async function countPoints(records: TableReader<'records'>, job_id: string): Promise<number> {
  const { state } = await pointLists.readManifest(records, jobPartition(job_id));
  let { points } = state;
  for await (const { end } of tailOf(records, job_id, state, points)) points = end;
  return points;
}

/** Return the points of a run from a number on. */
function behind({ name, numbers, steps, times, values }: PointRun, from: number): PointRun {
  const at = numbers.findIndex((number) => number >= from);
  const index = at < 0 ? numbers.length : at;
  if (index === 0) return { name, numbers, steps, times, values };
  return {
    name,
    numbers: numbers.subarray(index),
    steps: steps.subarray(index),
    times: times.subarray(index),
    values: values.subarray(index),
  };
}
