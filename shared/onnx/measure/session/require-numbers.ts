import { ModelError } from '../../model/model-error.ts';
import { isFloatType } from './feed-type.ts';
import { tensorNumbers } from './session.ts';
import type { Sample } from './set-samples.ts';

/**
 * Refuse a calibration sample with NaN. `index` is its position in the set. Collectors skip NaN, so the ranges
 * would silently cover only some of the activations. Infinity is allowed, because masks contain it and their
 * ranges are not used.
 *
 * @throws ModelError naming the input and the sample
 */
export function requireNumbers({ feeds }: Sample, index: number): void {
  for (const [name, tensor] of feeds) {
    if (tensor.type === 'string' || !isFloatType(tensor.type)) continue;
    const numbers = tensorNumbers(tensor);
    for (let at = 0; at < numbers.length; at += 1) {
      if (!Number.isNaN(numbers[at])) continue;
      throw new ModelError(
        `The calibration set contains NaN for the input ${JSON.stringify(name)} in sample ${index + 1}. NaN has no range, so leave out such samples.`,
      );
    }
  }
}
