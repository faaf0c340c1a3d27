import { batchOf } from '../../measure/session/batch-feeds.ts';
import { samplesOf } from '../../measure/session/samples.ts';
import { SessionPool } from '../../measure/session/session-pool.ts';
import type { StageAnswer } from '../../measure/session/stage-answers.ts';
import type { TaskOf } from '../../measure/session/stage-task.ts';
import { ModelError } from '../../model/model-error.ts';
import type { StageReporter } from '../process/stage-reporter.ts';
import { type SessionPair, timeBlocks } from './time-blocks.ts';

/** Of both timings together, where the task does not say. */
const usualSeconds = 120;
/** Samples at once that fill a processor's core; fewer where so many would take too long. */
const batches = [32, 16, 8, 4];
/** Runs of either model that a timing takes at least. */
const minRuns = 10;

async function firstFeeds({ feed }: TaskOf<'time'>) {
  for await (const { feeds } of samplesOf({ ...feed, samples: 1 })) return feeds;
  throw new ModelError('There is no sample to time the model with.');
}

/** Times the sessions at one sample and, where the model takes them, at many samples at once. */
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
    // A model may fix its batch in a Reshape, though its inputs leave it open.
    if (error instanceof ModelError) return { latency, latency_batch: null };
    throw error;
  }
}

/** Times the model and its result. */
export async function timeStage(
  task: TaskOf<'time'>,
  { progress }: Pick<StageReporter, 'progress'>,
  sessions = new SessionPool(),
): Promise<StageAnswer<'time'>> {
  return await sessions.use(task.before, 'model', (before) =>
    sessions.use(task.after, 'result', (after) => timeBoth({ before, after }, task, progress)),
  );
}
