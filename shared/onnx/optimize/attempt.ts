import { lchown, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { StageAnswer } from '../stage/stage-answers.ts';
import type { Feed } from '../stage/stage-task.ts';
import type { Optimization } from './optimization.ts';
import type { StageLog } from './stage-log.ts';

/** A transformation that was done, and what its outputs are beside those of the model; null where that was not run. */
export interface Attempt {
  excluded: readonly string[];
  transform: StageAnswer<'transform'>;
  compare: StageAnswer<'compare'> | null;
}

/** An empty folder that stages may write to. */
export async function emptyFolder(folder: string, user: Optimization['user']): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { mode: 0o700 });
  // Never through a link that somebody may have put there.
  if (user !== undefined) await lchown(folder, user.uid, user.gid);
}

/** What attempts at one optimization have in common. */
export interface AttemptPlace {
  optimization: Optimization;
  stages: StageLog;
  /** Folder of the result, which each attempt fills anew. */
  out: string;
  ranges: string | null;
  /** What to compare on; null where the model is too large to be run. */
  feed: Feed | null;
}

/** Transforms the model without touching the excluded layers, and compares. */
export async function attempt(
  place: AttemptPlace,
  excluded: readonly string[],
  names = stageNames,
): Promise<Attempt> {
  const { optimization, stages, out, ranges, feed } = place;
  await emptyFolder(out, optimization.user);
  const transform = await stages.run<'transform'>(names.transform, {
    kind: 'transform',
    model: optimization.model,
    request: { ...optimization.request },
    exclude: [...excluded],
    ranges,
    out,
    name: optimization.name,
  });
  const after = join(out, transform.files[0] ?? '');
  const compare =
    feed === null
      ? null
      : await stages.run<'compare'>(names.compare, {
          kind: 'compare',
          before: optimization.model,
          after,
          feed,
        });
  return { excluded, transform, compare };
}

/** Names of the stages of an attempt at the whole, and of one that measures how sensitive a layer is. */
export const stageNames = { transform: 'transform', compare: 'compare' };
export const sensitivityNames = { transform: 'sensitivity', compare: 'sensitivity' };
