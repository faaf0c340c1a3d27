import { ModelError } from '../../model/model-error.ts';
import { elementCount } from '../../model/tensor/tensor.ts';
import { type FeedType, isFeedType, kindText, typedArray } from './feed-type.ts';
import { Random } from './random.ts';
import type { FedTensor } from './session.ts';
import type { FedInput } from './stage-task.ts';

/** Maximum number of values of one synthetic input. */
const maxValues = 2 ** 28;

function value({ values, below }: FedInput, random: Random): number {
  if (values === 'one') return 1;
  return values === 'index' ? random.below(below) : random.normal();
}

/**
 * Return type and dimensions of an input's synthetic values.
 *
 * @throws ModelError, requesting a calibration set, if its dimensions are unknown
 */
export function syntheticForm({ name, type, dims }: FedInput): { type: FeedType; dims: number[] } {
  const named = `The input ${JSON.stringify(name)}`;
  if (!isFeedType(type)) {
    throw new ModelError(
      type === 'string'
        ? `${named} takes texts, which are not generated; give a calibration set with an array of them.`
        : `${named} is ${kindText(type)}; only models whose inputs are tensors of numbers or texts can be run.`,
    );
  }
  if (dims === null) {
    throw new ModelError(
      `${named} has an unknown number of dimensions; give a calibration set, which determines it.`,
    );
  }
  const count = elementCount(dims);
  if (count > maxValues) {
    throw new ModelError(`${named} has ${count} values; give a calibration set with smaller ones.`);
  }
  return { type, dims };
}

/**
 * Create synthetic inputs, equal for equal seeds. A silent sample has zeros for numbers.
 *
 * @throws ModelError, requesting a calibration set, if the dimensions of an input are unknown
 */
export function syntheticFeeds(
  inputs: readonly FedInput[],
  seed: number,
  isSilent = false,
): Map<string, FedTensor> {
  const random = new Random(seed);
  return new Map(
    inputs.map((input): [string, FedTensor] => {
      const { type, dims } = syntheticForm(input);
      const isZero = isSilent && input.values === 'normal';
      const numbers = Float64Array.from({ length: elementCount(dims) }, () =>
        isZero ? 0 : value(input, random),
      );
      return [input.name, { type, dims, values: typedArray(type, numbers) }];
    }),
  );
}
