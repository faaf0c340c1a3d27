import { isFloatType } from '../../measure/session/feed-type.ts';
import { runSample } from '../../measure/session/run-sample.ts';
import { samplesOf } from '../../measure/session/samples.ts';
import {
  type FedTensor,
  type OtherValue,
  type Session,
  tensorNumbers,
} from '../../measure/session/session.ts';
import { SessionPool } from '../../measure/session/session-pool.ts';
import type { Sample } from '../../measure/session/set-samples.ts';
import type { StageAnswer } from '../../measure/session/stage-answers.ts';
import type { Feed, TaskOf } from '../../measure/session/stage-task.ts';
import { ModelError } from '../../model/model-error.ts';

/**
 * Open a session of a model for later stages of this process. With a trial, also run it on samples, and say whether
 * its outputs are finite. A failure of the original model on the same sample proves nothing about the result.
 *
 * @throws ModelError if it does not open, or fails on a sample that the original model accepts
 */
export async function openStage(
  { model, of = 'model', trial }: TaskOf<'open'>,
  sessions = new SessionPool(),
): Promise<StageAnswer<'open'>> {
  const tried = await sessions.use(model, of, async (session) => trial && (await run(session, trial.feed)));
  if (trial === undefined || tried === undefined) return {};
  const { fault, sample } = tried;
  if (fault === undefined) return { is_finite: tried.isFinite };
  const own = await sessions.use(trial.before, 'model', (session) => faultOf(session, trial.feed, sample));
  if (own === undefined)
    throw new ModelError(`The result does not run, but the model does. ${fault.message}`);
  return {};
}

/** Milliseconds after which no further sample is run: a trial must not take longer than the transformation. */
const longestMs = 200;

interface Trial {
  /** The last sample that ran, and its error. */
  sample: Sample | undefined;
  fault: ModelError | undefined;
  isFinite: boolean;
}

/** Run a model on one sample after the other, until one fails, has an output that is not finite, or time is up. */
async function run(session: Session, feed: Feed): Promise<Trial> {
  const started = performance.now();
  let last: Sample | undefined;
  for await (const sample of samplesOf(feed)) {
    last = sample;
    const outputs = await outputsOf(session, feed, sample);
    if (outputs instanceof ModelError) return { sample, fault: outputs, isFinite: true };
    if (![...outputs.values()].every(holdsNumbers)) return { sample, fault: undefined, isFinite: false };
    if (performance.now() - started > longestMs) break;
  }
  return { sample: last, fault: undefined, isFinite: true };
}

type Outputs = Awaited<ReturnType<typeof runSample>>;

async function outputsOf(session: Session, feed: Feed, sample: Sample): Promise<Outputs | ModelError> {
  try {
    return await runSample(session, feed, sample);
  } catch (error) {
    if (error instanceof ModelError) return error;
    throw error;
  }
}

/** Whether an output holds neither NaN nor infinity. */
function holdsNumbers(output: FedTensor | OtherValue): boolean {
  if (output.type === 'other' || !isFloatType(output.type)) return true;
  const numbers = tensorNumbers(output);
  for (let at = 0; at < numbers.length; at += 1) if (!Number.isFinite(numbers[at])) return false;
  return true;
}

/** Return the error of a model on a sample; undefined if it runs. */
async function faultOf(
  session: Session,
  feed: Feed,
  sample: Sample | undefined,
): Promise<ModelError | undefined> {
  const outputs = sample && (await outputsOf(session, feed, sample));
  return outputs instanceof ModelError ? outputs : undefined;
}
