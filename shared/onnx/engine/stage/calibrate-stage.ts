import { mkdirSync } from 'node:fs';
import { dataUsed, setNotes } from '../../measure/session/samples.ts';
import type { StageAnswer } from '../../measure/session/stage-answers.ts';
import type { TaskOf } from '../../measure/session/stage-task.ts';
import { calibrationTargets } from '../../methods/apply/calibration-targets.ts';
import { parseRequest } from '../../methods/apply/parse-request.ts';
import { wantedStatistics } from '../../methods/apply/wanted-statistics.ts';
import { collectRanges } from '../../methods/calibrate/collect-ranges.ts';
import { collectStatistics, type Fed } from '../../methods/calibrate/collect-statistics.ts';
import { makeCollector } from '../../methods/calibrate/collectors/make-collector.ts';
import { MinMaxCollector } from '../../methods/calibrate/collectors/minmax-collector.ts';
import { putRanges, readObservations } from '../../methods/calibrate/observations.ts';
import { maskName } from '../../methods/calibrate/real-tokens.ts';
import { madeFloats } from '../../methods/quantize/half/made-floats.ts';
import { prepareStatic } from '../../methods/quantize/static/quantize-static.ts';
import { loadModel } from '../../model/file/load-model.ts';
import type { Model } from '../../model/file/model.ts';
import {
  isCalibrated,
  looksForOverflow,
  needsRanges,
  needsStatistics,
} from '../../strategies/optimization-request.ts';
import type { StageReporter } from '../process/stage-reporter.ts';

/**
 * Maximum number of samples for statistics. Second moments converge long before ranges. Pruning predicts as many
 * channels as a layer has, and needs more samples.
 */
const maxStatistics = { prune: 1024, quantize: 256 };

const paddingNotes = (padded: number): string[] =>
  padded === 0
    ? []
    : [
        `Padding tokens, as marked by ${JSON.stringify(maskName)}, were left out of calibration (${padded} samples have some).`,
      ];

/** Load the model and call `work` with it. */
async function withModel<T>(path: string, work: (model: Model) => Promise<T>): Promise<T> {
  const model = loadModel(path);
  try {
    return await work(model);
  } finally {
    model.external.close();
  }
}

/** Observe the range of every float value of the unchanged model. */
async function observeAll(
  task: TaskOf<'calibrate'>,
  progress: (fraction: number) => void,
): Promise<StageAnswer<'calibrate'>> {
  mkdirSync(task.out);
  const collector = new MinMaxCollector();
  const data = { feed: task.feed, folder: task.out, progress };
  const fed = await withModel(task.model, (model) =>
    collectRanges(model, madeFloats(model), collector, data),
  );
  putRanges(task.out, collector.ranges());
  const { source } = task.feed;
  return { data: dataUsed(source, fed.samples, fed.first), notes: setNotes(source, fed.first) };
}

/**
 * Run the model without graph optimizations, so every activation exists. Observe the data that the request needs:
 * first the statistics of layer inputs, then the ranges of activations in the form of the model that is quantized.
 */
export async function calibrateStage(
  task: TaskOf<'calibrate'>,
  { progress }: Pick<StageReporter, 'progress'>,
): Promise<StageAnswer<'calibrate'>> {
  const request = parseRequest(task.request);
  if (looksForOverflow(request)) return observeAll(task, progress);
  if (!isCalibrated(request)) throw new Error(`${request.strategy} needs no calibration`);
  mkdirSync(task.out);
  const parts = Number(needsStatistics(request)) + Number(needsRanges(request));
  let fed: Fed | undefined;
  let padded = 0;
  if (needsStatistics(request)) {
    const feed = { ...task.feed, samples: Math.min(task.feed.samples, maxStatistics[request.operation]) };
    const part = (fraction: number) => progress(fraction / parts);
    const observed = await withModel(task.model, (model) =>
      collectStatistics(model, wantedStatistics(model, request), {
        ...{ feed, folder: task.out, progress: part },
        // A quantized layer must also cover the range of padding, because it processes padding with all other
        // tokens.
        leavesOutPadding: request.operation === 'prune',
      }),
    );
    fed = observed;
    padded = observed.padded;
  }
  if (needsRanges(request)) {
    const part = (fraction: number) => progress((parts - 1 + fraction) / parts);
    fed = await withModel(task.model, async (model) => {
      prepareStatic(model, request, readObservations(task.out).statistics);
      const targets = calibrationTargets(model, request);
      const collector = makeCollector(request.strategy);
      const data = { feed: task.feed, folder: task.out, progress: part };
      const found = await collectRanges(model, targets, collector, data);
      putRanges(task.out, collector.ranges());
      return found;
    });
  }
  const { source } = task.feed;
  return {
    data: dataUsed(source, fed?.samples ?? 0, fed?.first),
    notes: [...setNotes(source, fed?.first), ...paddingNotes(padded)],
  };
}
