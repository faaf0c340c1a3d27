import { type FeedType, numbersOf, typedArray } from './feed-type.ts';
import type { FedTensor, FedTexts } from './session.ts';
import type { FedInput } from './stage-task.ts';

/** Maximum number of values of one input of a batch. */
const maxValues = 2 ** 24;

/** Repeat a tensor along its first axis. */
function repeated({ type, dims, values }: FedTensor, times: number): FedTensor {
  const numbers = numbersOf(type, values);
  const all = new Float64Array(numbers.length * times);
  for (let at = 0; at < all.length; at += 1) all[at] = numbers[at % numbers.length] ?? 0;
  const [, ...rest] = dims;
  return { type, dims: [times, ...rest], values: typedArray(type satisfies FeedType, all) };
}

/**
 * Repeat a sample to a batch of `size`. Undefined if the model fixes an input's first dimension, if the sample is
 * already a batch, or if the batch would be too large.
 */
export function batchOf(
  inputs: readonly FedInput[],
  feeds: ReadonlyMap<string, FedTensor | FedTexts>,
  size: number,
): Map<string, FedTensor> | undefined {
  const batch = new Map<string, FedTensor>();
  for (const { name, declared } of inputs) {
    const tensor = feeds.get(name);
    const isFree = declared !== null && declared.length > 0 && declared[0] === null;
    if (tensor === undefined || tensor.type === 'string') return undefined;
    if (!isFree || tensor.dims[0] !== 1) return undefined;
    if (tensor.values.length * size > maxValues) return undefined;
    batch.set(name, repeated(tensor, size));
  }
  return batch.size === 0 ? undefined : batch;
}
