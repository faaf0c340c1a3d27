import { ModelError } from '../../model/model-error.ts';
import { elementCount } from '../../model/tensor/tensor.ts';
import { type FeedType, isFeedType, typedArray } from './feed-type.ts';
import { Random } from './random.ts';
import type { FedTensor } from './session.ts';
import type { FedInput } from './stage-task.ts';

/** Most values of one synthetic input. */
const maxValues = 2 ** 28;

function value({ values, below }: FedInput, random: Random): number {
  if (values === 'one') return 1;
  return values === 'index' ? random.below(below) : random.normal();
}

/**
 * Type and dimensions of an input's synthetic values.
 *
 * @throws ModelError, asking for a calibration set, where its dimensions are not known
 */
export function syntheticForm({ name, type, dims }: FedInput): { type: FeedType; dims: number[] } {
  const named = `The input ${JSON.stringify(name)}`;
  if (!isFeedType(type)) {
    throw new ModelError(`${named} takes ${type}; only models whose inputs are numbers can be run here.`);
  }
  if (dims === null) {
    throw new ModelError(`${named} has no known number of dimensions; give a calibration set that shows it.`);
  }
  const count = elementCount(dims);
  if (count > maxValues) {
    throw new ModelError(`${named} has ${count} values; give a calibration set with smaller ones.`);
  }
  return { type, dims };
}

/**
 * Synthetic inputs: the same ones for the same seed; zeros for numbers where all is silent.
 *
 * @throws ModelError, asking for a calibration set, where the dimensions of an input are not known
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
