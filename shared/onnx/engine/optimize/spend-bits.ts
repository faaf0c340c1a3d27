import { ModelError } from '../../model/model-error.ts';
import { measureSensitivity } from './measure-sensitivity.ts';
import { runTrial, type TrialContext } from './run-trial.ts';

/** Bits of a weight without and with further bits. */
const [fewBits, manyBits] = [4, 8];

/**
 * Choose the layers whose weights get 8 bits instead of 4, so that the mean of all weights stays within `mean_bits`:
 * those that alone cause the largest squared error of an output for each weight, measured on the set.
 *
 * @throws ModelError if the model cannot be run
 */
export async function spendBits(context: TrialContext, meanBits: number): Promise<string[]> {
  const { say } = context.optimization;
  const first = await context.time.measured(() => runTrial(context, { excluded: [] }));
  if (first.compare === null)
    throw new ModelError(
      'mean_bits needs a model that can be run, because it measures the error of each layer.',
    );
  const sizes = new Map<string, number>();
  for (const { layer, parameters_before } of first.transform.layers)
    sizes.set(layer, (sizes.get(layer) ?? 0) + parameters_before);
  const all = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  say(`Measuring which layers need ${manyBits} bits.`);
  const ranked = (await measureSensitivity(context, first))
    .map(({ layer, error }) => ({ layer, size: sizes.get(layer) ?? 1, error: error ?? 0 }))
    .sort((a, b) => b.error ** 2 / b.size - a.error ** 2 / a.size);
  let left = ((meanBits - fewBits) / (manyBits - fewBits)) * all;
  const chosen: string[] = [];
  for (const { layer, size } of ranked) {
    if (size > left) continue;
    left -= size;
    chosen.push(layer);
  }
  return chosen;
}
