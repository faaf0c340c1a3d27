import { batchOf } from '../../measure/session/batch-feeds.ts';
import { samplesOf } from '../../measure/session/samples.ts';
import type { FedTensor, FedTexts, Session, SessionOf } from '../../measure/session/session.ts';
import { SessionPool } from '../../measure/session/session-pool.ts';
import type { StageAnswer } from '../../measure/session/stage-answers.ts';
import type { TaskOf } from '../../measure/session/stage-task.ts';
import { median, medianInterval, quantile } from '../../measure/verify/block-ratio.ts';
import { ModelError } from '../../model/model-error.ts';
import type { Receipt } from '../../receipt/receipt.ts';
import type { StageReporter } from '../process/stage-reporter.ts';

/** Default seconds of both timings together. */
const usualSeconds = 120;
/** Batch sizes that saturate a CPU core. A smaller one is used if a large one would take too long. */
const batches = [32, 16, 8, 4];
/** Minimum runs of each model in a timing. */
const minRuns = 10;

async function firstFeeds({ feed }: TaskOf<'time'>) {
  for await (const { feeds } of samplesOf({ ...feed, samples: 1 })) return feeds;
  throw new ModelError('There is no sample to time the model with.');
}

/** Time the sessions with one sample and, if the models accept it, with a batch. */
async function timeBoth(
  sessions: SessionPair,
  task: TaskOf<'time'>,
  progress: StageReporter['progress'],
): Promise<StageAnswer<'time'>> {
  const feeds = await firstFeeds(task);
  const half = { ms: (task.seconds ?? usualSeconds) * 500, seed: task.feed.seed };
  const latency = await timeBlocks(sessions, feeds, { ...half, progress: (part) => progress(part / 2) });
  const batch = batches.find((size) => size * latency.p50.before * minRuns <= 2 * half.ms);
  const many = batch === undefined ? undefined : batchOf(task.feed.inputs, feeds, batch);
  if (many === undefined) return { latency, latency_batch: null };
  try {
    const part = (fraction: number) => progress(0.5 + fraction / 2);
    return { latency, latency_batch: await timeBlocks(sessions, many, { ...half, progress: part }) };
  } catch (error) {
    // A Reshape may fix the batch size, although the inputs leave it open.
    if (error instanceof ModelError) return { latency, latency_batch: null };
    throw error;
  }
}

/** Time the model and its result. */
export async function timeStage(
  task: TaskOf<'time'>,
  { progress }: Pick<StageReporter, 'progress'>,
  sessions = new SessionPool(),
): Promise<StageAnswer<'time'>> {
  const timed = <T>(path: string, of: SessionOf, time: (session: Session) => Promise<T>): Promise<T> =>
    sessions.use(path, of, time, 1);
  return await timed(task.before, 'model', (before) =>
    timed(task.after, 'result', (after) => timeBoth({ before, after }, task, progress)),
  );
}

const maxBlocks = 30;
const minBlocks = 5;
/** Target duration of a block. A block has at least one run. */
const blockMs = 15;
const maxRuns = 200;
const warmUps = 3;
/** A run that takes this long is enough for warming up. */
const longMs = 50;

/** The sessions of a model and of its result. */
export interface SessionPair {
  before: Session;
  after: Session;
}

/** Milliseconds of each run of a block. */
export async function timeRuns(run: () => Promise<void>, runs: number): Promise<number[]> {
  const times: number[] = [];
  for (let index = 0; index < runs; index += 1) {
    const started = performance.now();
    await run();
    times.push(performance.now() - started);
  }
  return times;
}

/**
 * Time both sessions with the same inputs on one thread in alternating blocks (model, result, model, …) for about
 * `ms`. Slow models get fewer blocks. Compare each block of the result with the two adjacent blocks of the model,
 * and compare those two with each other for the A/A ratio.
 */
export async function timeBlocks(
  { before, after }: SessionPair,
  feeds: ReadonlyMap<string, FedTensor | FedTexts>,
  { ms, seed, progress }: { ms: number; seed: number; progress(fraction: number): void },
): Promise<NonNullable<Receipt['latency']>> {
  const runner = (session: Session): (() => Promise<void>) => {
    const prepared = session.prepare(feeds);
    return () => session.runPrepared(prepared);
  };
  const [runBefore, runAfter] = [runner(before), runner(after)];
  const warmUp = async (run: () => Promise<void>): Promise<number> => {
    const [first = 0] = await timeRuns(run, 1);
    return first > longMs ? first : ((await timeRuns(run, warmUps - 1)).at(-1) ?? 0);
  };
  const slowest = Math.max(await warmUp(runBefore), await warmUp(runAfter), 1e-3);
  const runs = Math.max(1, Math.min(maxRuns, Math.round(blockMs / slowest)));
  const blocks = Math.max(minBlocks, Math.min(maxBlocks, Math.floor(ms / (2 * slowest * runs))));
  const all = { before: [await timeRuns(runBefore, runs)], after: [] as number[][] };
  for (let block = 0; block < blocks; block += 1) {
    all.after.push(await timeRuns(runAfter, runs));
    all.before.push(await timeRuns(runBefore, runs));
    progress((block + 1) / blocks);
  }
  const medians = { before: all.before.map(median), after: all.after.map(median) };
  const ratios = medians.after.map(
    (time, block) => time / (((medians.before[block] ?? time) + (medians.before[block + 1] ?? time)) / 2),
  );
  const aa = medians.after.map((_, block) => (medians.before[block + 1] ?? 1) / (medians.before[block] ?? 1));
  const times = { before: all.before.flat(), after: all.after.flat() };
  return {
    p50: { before: quantile(times.before, 0.5), after: quantile(times.after, 0.5) },
    p90: { before: quantile(times.before, 0.9), after: quantile(times.after, 0.9) },
    ratio: median(ratios),
    ratio_interval: medianInterval(ratios, seed),
    aa_ratio: median(aa),
    blocks,
    runs_per_block: runs,
    shapes: Object.fromEntries([...feeds].map(([name, { dims }]): [string, number[]] => [name, [...dims]])),
  };
}
