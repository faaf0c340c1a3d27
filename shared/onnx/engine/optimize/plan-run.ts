import { isFeedType, kindText } from '../../measure/session/feed-type.ts';
import type { StageAnswer } from '../../measure/session/stage-answers.ts';
import type { FedInput, Feed } from '../../measure/session/stage-task.ts';
import { syntheticForm } from '../../measure/session/synthetic.ts';
import { ModelError } from '../../model/model-error.ts';
import { isCalibrated, type OptimizationRequest } from '../../strategies/optimization-request.ts';
import type { Bounds } from '../process/stage-bounds.ts';
import type { Optimization } from './optimization.ts';
import { extents, type FeedPlans, fitInMemory, planFeeds, syntheticInputs } from './plan-feeds.ts';
import type { StageRunner } from './stage-runner.ts';

/** How much a model is run during its optimization. */
export interface RunPlan {
  /**
   * - `compare`: the result is run beside the model, and both are timed.
   * - `try`: the model may be run, and the result is run once.
   * - `check-layers`: the model is too large to run, so its layers are compared one by one.
   * - `warn`: the model runs on no input that there is, and the receipt begins with that.
   * - `open`: the result is only opened.
   */
  kind: 'compare' | 'try' | 'check-layers' | 'warn' | 'open';
  feeds: FeedPlans;
  /** What was found out about made-up inputs. */
  notes: readonly string[];
  /** Why the model runs on no input. */
  why?: string;
}

/**
 * Decide how much a model is run, before any work on it. Finds sizes of made-up inputs by running the model.
 *
 * | request | the model runs | it runs on no input | it is too large |
 * |---|---|---|---|
 * | cannot do without a run | `compare`, or `try` with `measure=none` | refused | refused |
 * | compares where it can | `compare` | `warn` | `check-layers` |
 * | compares nothing | `try` | `open` | `open` |
 *
 * @throws ModelError naming the part that cannot be run or compared
 */
export async function planRun(
  optimization: Optimization,
  stages: Pick<StageRunner, 'run'>,
  model: StageAnswer<'read'>,
  bounds: Bounds,
): Promise<RunPlan> {
  const { request } = optimization;
  const isCompared = request.measure !== 'none' || comparedFor(request) !== undefined;
  const needing = isCalibrated(request) ? request.strategy : comparedFor(request);
  const feeds = planFeeds(optimization, model.inputs);
  if (!isRunnable(needing !== undefined, request, model, bounds)) {
    if (needing !== undefined)
      throw new ModelError(`${needing} requires running the model, which is too large for this machine.`);
    return { kind: isCompared ? 'check-layers' : 'open', feeds, notes: [] };
  }
  const noFeed = unfed(feeds.compare);
  if (isCompared || needing !== undefined) {
    if (!model.has_tensor_output) throw new ModelError('No output of the model is a tensor.');
    if (isCalibrated(request)) requireFeed(feeds.calibrate);
    if (needing !== undefined || noFeed === undefined) requireFeed(feeds.compare);
  }
  const isMadeUp = feeds.compare.set === null || (isCalibrated(request) && feeds.calibrate.set === null);
  const { inputs, notes, why } =
    noFeed !== undefined || !isMadeUp
      ? { inputs: model.inputs, notes: [], why: noFeed }
      : await syntheticInputs(optimization, stages, model.inputs);
  if (why === undefined)
    return { kind: isCompared ? 'compare' : 'try', feeds: planFeeds(optimization, inputs), notes };
  if (needing !== undefined) throw new ModelError(why);
  const said =
    noFeed === undefined
      ? 'it runs on none of the generated inputs'
      : 'only numbers, and texts of a set, can be fed';
  return isCompared ? { kind: 'warn', feeds, notes, why: `${said}: ${why}` } : { kind: 'open', feeds, notes };
}

/** Return the parameter whose meaning is a bound on the outputs, so that they must be compared. */
const comparedFor = (request: OptimizationRequest): string | undefined =>
  request.max_error !== null
    ? 'max_error'
    : request.strategy === 'auto'
      ? 'auto'
      : request.operation === 'quantize' && request.mean_bits !== null
        ? 'mean_bits'
        : undefined;

/** Whether a session of the model fits into memory, and into the time of a receipt. */
const isRunnable = (
  mustRun: boolean,
  { measure }: OptimizationRequest,
  { weight_bytes }: Pick<StageAnswer<'read'>, 'weight_bytes'>,
  bounds: Bounds,
): boolean => fitInMemory(bounds, weight_bytes) && (mustRun || weight_bytes <= extents[measure].wholeBytes);

/** Return why no session can be fed: an input that is no tensor, or texts without a set. Undefined if one can. */
export function unfed(feed: Feed): string | undefined {
  const input = feed.inputs.find((one) => !isFed(one, feed));
  return input && `The input ${JSON.stringify(input.name)} is ${kindText(input.type)}.`;
}

const isFed = ({ type }: FedInput, { set }: Pick<Feed, 'set'>): boolean =>
  isFeedType(type) || (type === 'string' && set !== null);

/** Refuse inputs that a session does not support. The arrays of a set are checked when it is read. */
function requireFeed(feed: Feed): void {
  for (const input of feed.inputs) if (!isFed(input, feed) || feed.set === null) syntheticForm(input);
}
