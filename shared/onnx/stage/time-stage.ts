import { ModelError } from '../model-error.ts';
import { samplesOf } from '../session/samples.ts';
import { Session } from '../session/session.ts';
import type { StageAnswer } from '../stage-task/stage-answers.ts';
import type { TaskOf } from '../stage-task/stage-task.ts';
import { median, medianInterval, quantile } from '../verify/block-ratio.ts';
import type { StageReporter } from './stage-reporter.ts';

const blocksMost = 30;
const blocksLeast = 5;
/** A block lasts about this long, or one run where that is longer. */
const blockMs = 15;
const runsMost = 200;
/** Seconds of all blocks together; slow models get fewer. */
const allMs = 60_000;
const warmUps = 3;

type Block = () => Promise<number[]>;

/** Milliseconds of each run of a block. */
async function timeRuns(run: () => Promise<void>, runs: number): Promise<number[]> {
  const times: number[] = [];
  for (let index = 0; index < runs; index += 1) {
    const started = performance.now();
    await run();
    times.push(performance.now() - started);
  }
  return times;
}

async function firstFeeds({ feed }: TaskOf<'time'>) {
  for await (const { feeds } of samplesOf({ ...feed, samples: 1 })) return feeds;
  throw new ModelError('There is no sample to time the model with.');
}

/**
 * Times the model and its result at one sample and one thread in alternating blocks: model, result, model, … . A block
 * of the result is compared with the two of the model around it, those with each other for the A/A ratio.
 */
export async function timeStage(
  task: TaskOf<'time'>,
  { progress }: Pick<StageReporter, 'progress'>,
): Promise<StageAnswer<'time'>> {
  const feeds = await firstFeeds(task);
  const [before, after] = [
    await Session.open(task.before, 'model'),
    await Session.open(task.after, 'result'),
  ];
  const runner = (session: Session): (() => Promise<void>) => {
    const prepared = session.prepare(feeds);
    return () => session.runPrepared(prepared);
  };
  const [runBefore, runAfter] = [runner(before), runner(after)];
  const trial = [await timeRuns(runBefore, warmUps), await timeRuns(runAfter, warmUps)].map(
    (times) => times.at(-1) ?? 0,
  );
  const slowest = Math.max(...trial, 1e-3);
  const runs = Math.max(1, Math.min(runsMost, Math.round(blockMs / slowest)));
  const blocks = Math.max(blocksLeast, Math.min(blocksMost, Math.floor(allMs / (2 * slowest * runs))));
  const [blockBefore, blockAfter]: [Block, Block] = [
    () => timeRuns(runBefore, runs),
    () => timeRuns(runAfter, runs),
  ];
  const all = { before: [await blockBefore()], after: [] as number[][] };
  for (let block = 0; block < blocks; block += 1) {
    all.after.push(await blockAfter());
    all.before.push(await blockBefore());
    progress((block + 1) / blocks);
  }
  const medians = { before: all.before.map(median), after: all.after.map(median) };
  const ratios = medians.after.map(
    (time, block) => time / (((medians.before[block] ?? time) + (medians.before[block + 1] ?? time)) / 2),
  );
  const aa = medians.after.map((_, block) => (medians.before[block + 1] ?? 1) / (medians.before[block] ?? 1));
  const times = { before: all.before.flat(), after: all.after.flat() };
  const shapes = [...feeds].map(([name, { dims }]): [string, number[]] => [name, [...dims]]);
  return {
    p50: { before: quantile(times.before, 0.5), after: quantile(times.after, 0.5) },
    p90: { before: quantile(times.before, 0.9), after: quantile(times.after, 0.9) },
    ratio: median(ratios),
    ratio_interval: medianInterval(ratios, task.feed.seed),
    aa_ratio: median(aa),
    blocks,
    runs_per_block: runs,
    shapes: Object.fromEntries(shapes),
  };
}
