import { ModelError } from '../../model/model-error.ts';
import { isFloatType } from './feed-type.ts';
import { tensorNumbers } from './session.ts';
import type { Sample } from './set-samples.ts';

/**
 * Refuse a calibration sample, `index` in its set, that holds NaN. Collectors leave NaN out, so such a set would
 * silently give ranges of some of the network's activations only. Infinity is allowed: masks hold it, and their
 * ranges are not used.
 *
 * @throws ModelError naming the input and the sample
 */
export function requireNumbers({ feeds }: Sample, index: number): void {
  for (const [name, tensor] of feeds) {
    if (!isFloatType(tensor.type)) continue;
    const numbers = tensorNumbers(tensor);
    for (let at = 0; at < numbers.length; at += 1) {
      if (!Number.isNaN(numbers[at])) continue;
      throw new ModelError(
        `The calibration set holds NaN for the input ${JSON.stringify(name)} in sample ${index + 1}: no range can be taken from what is not a number; leave out such samples.`,
      );
    }
  }
}
