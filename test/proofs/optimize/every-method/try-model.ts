// Tries every method on one model: try-model.ts <model> <npz or ''> <folder> <first trial> [flag]. Answers a line for each.
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { planFeeds } from '../../../../shared/onnx/engine/optimize/plan-feeds.ts';
import { calibrateStage } from '../../../../shared/onnx/engine/stage/calibrate-stage.ts';
import { compareStage } from '../../../../shared/onnx/engine/stage/compare-stage.ts';
import { readStage } from '../../../../shared/onnx/engine/stage/read-stage.ts';
import { transformStage } from '../../../../shared/onnx/engine/stage/transform-stage.ts';
import { extendedFlag } from '../../../../shared/onnx/measure/session/extended-flag.ts';
import { runSample } from '../../../../shared/onnx/measure/session/run-sample.ts';
import { samplesOf } from '../../../../shared/onnx/measure/session/samples.ts';
import { Session } from '../../../../shared/onnx/measure/session/session.ts';
import { SessionPool } from '../../../../shared/onnx/measure/session/session-pool.ts';
import type { StageAnswer } from '../../../../shared/onnx/measure/session/stage-answers.ts';
import type { Feed } from '../../../../shared/onnx/measure/session/stage-task.ts';
import { parseRequest } from '../../../../shared/onnx/methods/apply/parse-request.ts';
import { ModelError } from '../../../../shared/onnx/model/model-error.ts';
import { isCalibrated } from '../../../../shared/onnx/strategies/optimization-request.ts';
import type { Outcome } from './outcome.ts';
import { type Trial, trials } from './requests.ts';

const [, , model = '', set = '', folder = '', first = '0', flag] = process.argv;
const level = flag === extendedFlag ? 'extended' : 'all';
const voice = { progress: () => {} };
/** Enough to tell a mistake from rounding. */
const maxSamples = { synthetic: 2, evaluation: 300, calibration: 32 } as const;

const limited = (feed: Feed): Feed => ({
  ...feed,
  samples: Math.min(feed.samples, maxSamples[feed.source]),
});

/** Why ONNX Runtime does not run the model as it is; undefined where it does. */
async function unrunnable(feed: Feed): Promise<string | undefined> {
  try {
    const session = await Session.open(model, 'model', level);
    for await (const sample of samplesOf({ ...feed, samples: 1 })) await runSample(session, feed, sample);
    await session.release();
    return undefined;
  } catch (error) {
    if (error instanceof ModelError) return error.message;
    throw error;
  }
}

function judged({ maxError }: Trial, compare: StageAnswer<'compare'>): Partial<Outcome> {
  const broken = compare.outputs.find(({ why }) => why !== null && why !== 'is not a numeric tensor');
  const error = Math.max(0, ...compare.outputs.map((output) => output.relative_l2_error ?? 0));
  const accuracy = compare.accuracy && { before: compare.accuracy.before, after: compare.accuracy.after };
  const measured = { error, accuracy };
  if (broken !== undefined) return { ...measured, outcome: 'failed', reason: `an output ${broken.why}` };
  if (maxError !== undefined && error > maxError) {
    return {
      ...measured,
      outcome: 'failed',
      reason: `the error ${error.toPrecision(3)} is above ${maxError}`,
    };
  }
  return measured;
}

/** Where less was pruned than the request asks for. */
function unreached({ request }: Trial, { pruning }: StageAnswer<'transform'>): string | undefined {
  const reached = pruning?.reached ?? 1;
  return reached >= Number(request['compression'] ?? 1) ? undefined : `only ÷ ${reached} was reached`;
}

async function attempt(
  trial: Trial,
  index: number,
  { inputs, noRun }: { inputs: StageAnswer<'read'>['inputs']; noRun: string | undefined },
): Promise<Outcome> {
  const base: Outcome = {
    trial: trial.name,
    outcome: 'passed',
    reason: '',
    error: null,
    accuracy: null,
    file: null,
  };
  const out = join(folder, String(index));
  const observations = join(folder, 'observed');
  // A process that ended in the middle of a trial left its folders.
  for (const left of [out, observations]) rmSync(left, { recursive: true, force: true });
  mkdirSync(out);
  try {
    const request = parseRequest(trial.request);
    const data = set === '' ? undefined : set;
    const feeds = planFeeds({ request, calibration: data, evaluation: data }, inputs);
    const observed = isCalibrated(request) ? observations : null;
    if (observed !== null && noRun !== undefined) return { ...base, outcome: 'unrun', reason: noRun };
    if (observed !== null) {
      const feed = limited(feeds.calibrate);
      await calibrateStage({ kind: 'calibrate', model, request: trial.request, feed, out: observed }, voice);
    }
    const task = { kind: 'transform', model, request: trial.request, exclude: [], observed, out } as const;
    const transform = transformStage({ ...task, exclude: [] }, voice);
    const file = join(out, transform.files[0] ?? '');
    const short = unreached(trial, transform);
    if (short !== undefined) return { ...base, file, outcome: 'failed', reason: short };
    if (noRun !== undefined) return { ...base, file, outcome: 'unrun', reason: noRun };
    const compare = await compareStage(
      { kind: 'compare', before: model, after: file, feed: limited(feeds.compare) },
      voice,
      new SessionPool(level),
    );
    return { ...base, file, ...judged(trial, compare) };
  } catch (error) {
    if (error instanceof ModelError && !error.message.includes('the result')) {
      return { ...base, outcome: 'refused', reason: error.message };
    }
    const reason =
      error instanceof ModelError ? error.message : error instanceof Error ? (error.stack ?? '') : '';
    return { ...base, outcome: 'failed', reason };
  }
}

const say = (outcome: Outcome): void => void process.stdout.write(`${JSON.stringify(outcome)}\n`);
const rest = trials.slice(Number(first));

async function tryAll(): Promise<void> {
  let inputs: StageAnswer<'read'>['inputs'];
  try {
    ({ inputs } = readStage({ kind: 'read', model, shapes: {} }));
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    for (const { name: trial } of rest) {
      say({ trial, outcome: 'refused', reason: error.message, error: null, accuracy: null, file: null });
    }
    return;
  }
  const request = parseRequest(trials[0]?.request ?? {});
  const data = set === '' ? undefined : set;
  const { compare } = planFeeds({ request, calibration: data, evaluation: data }, inputs);
  const noRun = await unrunnable(compare);
  for (const [index, trial] of rest.entries())
    say(await attempt(trial, Number(first) + index, { inputs, noRun }));
}

await tryAll();
// Nothing is left to be done, and an exit may hang in the threads of what ran.
process.kill(process.pid, 'SIGKILL');
