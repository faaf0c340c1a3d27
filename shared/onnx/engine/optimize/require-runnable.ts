import { isFeedType, kindText } from '../../measure/session/feed-type.ts';
import type { StageAnswer } from '../../measure/session/stage-answers.ts';
import type { FedInput, Feed } from '../../measure/session/stage-task.ts';
import { syntheticForm } from '../../measure/session/synthetic.ts';
import { ModelError } from '../../model/model-error.ts';
import { isCalibrated } from '../../strategies/optimization-request.ts';
import type { Optimization } from './optimization.ts';
import type { FeedPlans } from './plan-feeds.ts';

/**
 * Refuse a request that requires sessions of a model that cannot run. Called before any work. `isRunnable` says
 * whether a session fits into memory, `mustCompare` whether the request cannot do without a run.
 *
 * @throws ModelError naming the part that cannot be run or compared
 */
export function requireRunnable(
  { request }: Pick<Optimization, 'request'>,
  { has_tensor_output }: Pick<StageAnswer<'read'>, 'has_tensor_output'>,
  feeds: FeedPlans,
  { isRunnable, mustCompare }: { isRunnable: boolean; mustCompare: boolean },
): void {
  if (isRunnable) {
    if (!has_tensor_output) throw new ModelError('No output of the model is a tensor.');
    if (!mustCompare && unfed(feeds.compare) !== undefined) return;
    if (isCalibrated(request)) requireFeed(feeds.calibrate);
    requireFeed(feeds.compare);
    return;
  }
  if (isCalibrated(request))
    throw new ModelError(`${request.strategy} must run the model, which is too large for this machine.`);
  if (request.max_error !== null)
    throw new ModelError('max_error requires running the model, which is too large for this machine.');
}

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
