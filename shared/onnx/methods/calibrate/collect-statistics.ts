import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { requireNumbers } from '../../measure/session/require-numbers.ts';
import { runSample } from '../../measure/session/run-sample.ts';
import { samplesOf } from '../../measure/session/samples.ts';
import { Session, tensorNumbers } from '../../measure/session/session.ts';
import type { Sample } from '../../measure/session/set-samples.ts';
import type { Feed } from '../../measure/session/stage-task.ts';
import type { Model } from '../../model/file/model.ts';
import { saveModel } from '../../model/file/save-model.ts';
import { StatisticsCollector } from './collectors/statistics-collector.ts';
import { exposeOutputs } from './expose-outputs.ts';
import { GramSession } from './gram-session.ts';
import { realTokens } from './real-tokens.ts';
import { type ObservedInput, writeStatistics } from './statistics-file.ts';

interface Collecting {
  feed: Feed;
  folder: string;
  /** Whether rows that `attention_mask` marks as padding are ignored. */
  leavesOutPadding?: boolean;
  progress(fraction: number): void;
}

/** The fed data, for the receipt. */
export interface Fed {
  samples: number;
  first: Sample | undefined;
}

/** The data of the statistics. */
export interface FedStatistics extends Fed {
  /** Number of samples whose padding was ignored. */
  padded: number;
}

/**
 * Run a loaded model over samples and write the statistics of the wanted values into `folder` (see
 * `readStatistics`). Graph optimizations are off, because they would remove values. The values become outputs of
 * the model. The caller closes the model. Memory is bounded: second moments that do not fit into memory together
 * are collected in further runs.
 *
 * @throws ModelError for a sample that the model does not accept, or that contains NaN
 */
export async function collectStatistics(
  model: Model,
  wanted: readonly ObservedInput[],
  { feed, folder, leavesOutPadding = false, progress }: Collecting,
): Promise<FedStatistics> {
  const work = join(folder, 'observed-model');
  mkdirSync(work, { recursive: true });
  const fed: FedStatistics = { samples: 0, first: undefined, padded: 0 };
  try {
    const exposed = new Set(exposeOutputs(model, wanted));
    const [file = ''] = saveModel(model, work);
    const session = await Session.open(join(work, file), 'model', 'disabled');
    const gram = await GramSession.open(join(work, 'gram'));
    const groups = groupsOf(wanted);
    for (const [index, group] of groups.entries()) {
      const collector = new StatisticsCollector(group, gram);
      const outputs = group.map(({ name }) => name).filter((name) => exposed.has(name));
      fed.samples = 0;
      fed.padded = 0;
      for await (const sample of samplesOf(feed)) {
        fed.first ??= sample;
        requireNumbers(sample, fed.samples);
        const results = outputs.length === 0 ? new Map() : await runSample(session, feed, sample, outputs);
        const tokens = leavesOutPadding ? realTokens(sample) : undefined;
        if (tokens !== undefined) fed.padded += 1;
        for (const { name } of group) {
          const value = results.get(name) ?? sample.feeds.get(name);
          if (value?.type !== 'float' && value?.type !== 'float16') continue;
          const { dims } = value;
          const values =
            value.values instanceof Float32Array ? value.values : Float32Array.from(tensorNumbers(value));
          await collector.add(name, { values, dims, counted: tokens?.rowsOf(dims) });
        }
        fed.samples += 1;
        progress((index + fed.samples / feed.samples) / groups.length);
      }
      writeStatistics(folder, await collector.statistics());
    }
    await session.release();
    await gram.release();
    return fed;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Maximum bytes of second moments that one run over the samples collects. Further ones need another run. */
const momentBytes = 768 * 2 ** 20;

/** Split inputs into groups whose second moments fit into memory together. */
function groupsOf(wanted: readonly ObservedInput[]): ObservedInput[][] {
  const groups: ObservedInput[][] = [];
  let room = 0;
  for (const input of wanted) {
    const bytes = input.hasMoment ? 8 * input.channels ** 2 : 0;
    const group = groups.at(-1);
    if (group !== undefined && bytes <= room) group.push(input);
    else {
      groups.push([input]);
      room = momentBytes;
    }
    room -= bytes;
  }
  return groups;
}
