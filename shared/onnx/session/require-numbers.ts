import { ModelError } from '../model-error.ts';
import { isFloatType } from './feed-type.ts';
import { tensorNumbers } from './session.ts';
import type { Sample } from './set-samples.ts';

/**
 * Refuses a sample that ranges are taken from, `index` in its set, where it holds NaN. Also where the others do not:
 * collectors leave NaN out, so that such a set would give ranges of part of the network's activations only, and look
 * as good as any; and whoever made it has mended it sooner than anybody can tell what is missing. Infinity is let
 * pass: masks hold it, and their ranges are not used.
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
