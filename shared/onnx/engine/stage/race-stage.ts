import { samplesOf } from '../../measure/session/samples.ts';
import { type GraphOptimization, Session } from '../../measure/session/session.ts';
import type { StageAnswer } from '../../measure/session/stage-answers.ts';
import type { Feed, TaskOf } from '../../measure/session/stage-task.ts';
import { median, quantile } from '../../measure/verify/block-ratio.ts';
import { minRounds } from '../../measure/verify/rounds-interval.ts';
import { ModelError } from '../../model/model-error.ts';
import type { StageReporter } from '../process/stage-reporter.ts';
import { timeRuns } from './time-stage.ts';

/** Further rounds hardly narrow the interval. */
const maxRounds = 40;
const warmUps = 2;
/** Target duration of a block. A block has at least one run. */
const blockMs = 5;
const maxRunsOfBlock = 100;
/** Minimum blocks of each model per round. */
const minBlocks = 2;

type Side = 'base' | 'file';

/** A model with its feed. */
interface Racer {
  path: string;
  feed: Feed;
}

async function firstFeeds(feed: Feed) {
  for await (const { feeds } of samplesOf({ ...feed, samples: 1 })) return feeds;
  throw new ModelError('There is no sample to time the model with.');
}

/** Open a session, and return a function that runs it once. */
async function opened({ path, feed }: Racer, level: GraphOptimization) {
  const session = await Session.open(path, 'model', level);
  const prepared = session.prepare(await firstFeeds(feed));
  return { run: () => session.runPrepared(prepared), close: () => session.release() };
}

/** Number of blocks and runs of each model in a round. */
interface Extent {
  blocks: number;
  runs: number;
}

type Times = Record<Side, number[]>;

/** Run the warm sessions in alternating blocks: A B A B, and B A B A in the next round. */
async function alternate(
  runs: readonly (readonly [Side, () => Promise<void>])[],
  { blocks, runs: perBlock }: Extent,
): Promise<Times> {
  const times: Times = { base: [], file: [] };
  for (const [, run] of runs) await timeRuns(run, warmUps);
  for (let block = 0; block < blocks; block += 1)
    for (const [side, run] of runs) times[side].push(...(await timeRuns(run, perBlock)));
  return times;
}

/** Run one round with new sessions. Each round draws a new memory placement of the weights. */
async function round(
  racers: readonly (readonly [Side, Racer])[],
  areTogether: boolean,
  extent: Extent,
  level: GraphOptimization,
): Promise<Times> {
  const all: Times = { base: [], file: [] };
  const groups = areTogether ? [racers] : racers.map((racer) => [racer]);
  for (const group of groups) {
    const sessions: (readonly [Side, Awaited<ReturnType<typeof opened>>])[] = [];
    try {
      for (const [side, racer] of group) sessions.push([side, await opened(racer, level)]);
      const times = await alternate(
        sessions.map(([side, { run }]) => [side, run] as const),
        extent,
      );
      for (const side of ['base', 'file'] as const) all[side].push(...times[side]);
    } finally {
      for (const [, session] of sessions) await session.close();
    }
  }
  return all;
}

/**
 * Time a model in rounds, usually against another one. Each round opens its own sessions in alternating order,
 * runs them in alternating blocks, and reports the median of each.
 */
export async function raceStage(
  { base, file, together, seconds }: TaskOf<'race'>,
  { progress }: Pick<StageReporter, 'progress'>,
  level: GraphOptimization,
): Promise<StageAnswer<'race'>> {
  const racers: (readonly [Side, Racer])[] = [
    ...(base === null ? [] : [['base', base] as const]),
    ['file', file] as const,
  ];
  // Measure the time to open the sessions and to run them once warm. It does not count as a round.
  const started = performance.now();
  const trial = await round(racers, together, { blocks: 1, runs: 2 }, level);
  const trialMs = performance.now() - started;
  const slowest = Math.max(1e-3, ...[...trial.base, ...trial.file]);
  const runs = Math.max(1, Math.min(maxRunsOfBlock, Math.round(blockMs / slowest)));
  const shortest = trialMs + racers.length * minBlocks * runs * slowest;
  const rounds = Math.max(minRounds, Math.min(maxRounds, Math.floor((seconds * 1000) / shortest)));
  const spare = (seconds * 1000) / rounds - trialMs;
  const blocks = Math.max(minBlocks, Math.floor(spare / (racers.length * runs * slowest)));
  const times: Times = { base: [], file: [] };
  const medians: StageAnswer<'race'>['rounds'] = [];
  for (let index = 0; index < rounds; index += 1) {
    const order = index % 2 === 0 ? racers : racers.toReversed();
    const one = await round(order, together, { blocks, runs }, level);
    medians.push({ base: base === null ? null : median(one.base), file: median(one.file) });
    for (const side of ['base', 'file'] as const) times[side].push(...one[side]);
    progress((index + 1) / rounds);
  }
  const feeds = await firstFeeds(file.feed);
  return {
    rounds: medians,
    runs_per_round: blocks * runs,
    p50: { base: base === null ? null : quantile(times.base, 0.5), file: quantile(times.file, 0.5) },
    p90: { base: base === null ? null : quantile(times.base, 0.9), file: quantile(times.file, 0.9) },
    shapes: Object.fromEntries([...feeds].map(([name, { dims }]): [string, number[]] => [name, [...dims]])),
  };
}
