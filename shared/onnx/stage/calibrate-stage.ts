import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseRequest } from '../apply/parse-request.ts';
import type { Collector } from '../calibrate/collector.ts';
import { exposeOutputs } from '../calibrate/expose-outputs.ts';
import { makeCollector } from '../calibrate/make-collector.ts';
import { writeRanges } from '../calibrate/ranges-file.ts';
import { loadModel } from '../model/load-model.ts';
import { saveModel } from '../model/save-model.ts';
import { calibrationTargets } from '../quantize/calibration-targets.ts';
import { prepareStatic } from '../quantize/prepare-static.ts';
import type { StaticRequest } from '../quantize/static-operators.ts';
import { requireNumbers } from '../session/require-numbers.ts';
import { runSample } from '../session/run-sample.ts';
import { dataUsed, samplesOf, setNotes } from '../session/samples.ts';
import { type FedTensor, type OtherValue, Session } from '../session/session.ts';
import type { Sample } from '../session/set-samples.ts';
import type { StageAnswer } from '../stage-task/stage-answers.ts';
import type { TaskOf } from '../stage-task/stage-task.ts';
import { isCalibrated } from '../strategies/optimization-request.ts';
import type { StageReporter } from './stage-reporter.ts';

/** Save the model in the form that is quantized, with the values to observe as outputs. */
function exposed(
  path: string,
  request: StaticRequest,
  folder: string,
): { file: string; targets: string[]; outputs: string[] } {
  const model = loadModel(path);
  try {
    prepareStatic(model, request);
    const targets = calibrationTargets(model, request);
    const outputs = exposeOutputs(model, targets);
    const [file = ''] = saveModel(model, folder);
    return { file: join(folder, file), targets, outputs };
  } finally {
    model.external.close();
  }
}

function collect(collector: Collector, name: string, value: FedTensor | OtherValue | undefined): void {
  if (value?.type === 'float' && value.values instanceof Float32Array) collector.add(name, value.values);
}

/** Runs the model without optimizations, so that each activation is there, and observes those that get a range. */
export async function calibrateStage(
  task: TaskOf<'calibrate'>,
  { progress }: Pick<StageReporter, 'progress'>,
): Promise<StageAnswer<'calibrate'>> {
  const request = parseRequest(task.request);
  if (!isCalibrated(request)) throw new Error(`${request.strategy} needs no calibration`);
  const folder = `${task.out}.model`;
  mkdirSync(folder);
  try {
    const { file, targets, outputs } = exposed(task.model, request, folder);
    const collector = makeCollector(request.strategy);
    const session = await Session.open(file, 'model', false);
    let samples = 0;
    let first: Sample | undefined;
    for await (const sample of samplesOf(task.feed)) {
      first ??= sample;
      requireNumbers(sample, samples);
      for (const name of targets) collect(collector, name, sample.feeds.get(name));
      // A session runs for at least one output; where only inputs are observed there is none.
      const results = outputs.length === 0 ? [] : await runSample(session, task.feed, sample, outputs);
      for (const [name, value] of results) collect(collector, name, value);
      samples += 1;
      progress(samples / task.feed.samples);
    }
    await session.release();
    writeRanges(task.out, collector.ranges());
    const { source } = task.feed;
    return { data: dataUsed(source, samples, first), notes: setNotes(source, first) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
