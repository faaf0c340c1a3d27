import { expect, test } from 'vitest';
import { pruneStructured } from '../../../../../shared/onnx/methods/prune/structured/prune-structured.ts';
import { TransformReport } from '../../../../../shared/onnx/methods/report/report.ts';
import { elementCount } from '../../../../../shared/onnx/model/tensor/tensor.ts';
import { randomTransformer } from '../../../../support/onnx/random-transformer.ts';
import { seededFloats } from '../../../../support/onnx/seeded.ts';
import { copyOf, relativeError, runSmall } from '../../../../support/onnx/small-model.ts';
import { seededRandom } from '../../../../support/seeded-random.ts';
import { type Family, prune, randomDecoder, randomNetwork, zeroed } from './random-network.ts';

const graphs = Number(process.env['PRUNE_GRAPHS'] ?? 60);
const firstSeed = Number(process.env['PRUNE_SEED'] ?? 1);

test.each<Family>([
  { name: 'convolutional networks', make: randomNetwork, dims: [2, 3, 6, 6], least: 0.9 },
  { name: 'transformers', make: randomTransformer, dims: [2, 5, 16], least: 1 },
  { name: 'decoders', make: randomDecoder, dims: [2, 6], least: 1 },
])('removing channels equals zeroing them, over random $name', async ({ make, dims, least }) => {
  let pruned = 0;
  for (let seed = firstSeed; seed < firstSeed + graphs; seed += 1) {
    const original = make(seed);
    const model = copyOf(original);
    const report = prune(model, seed, 2 + (seed % 2));
    if (report === undefined) continue;
    pruned += 1;
    const { prunable_before, prunable_after, compression } = report.pruning!;
    expect(prunable_after * compression, `seed ${seed}`).toBeLessThanOrEqual(prunable_before);
    const feeds = { x: { dims, data: seededFloats(seededRandom(seed), elementCount(dims)) } };
    const [removed, reference] = [
      await runSmall(model, feeds),
      await runSmall(zeroed(original, model), feeds),
    ];
    expect(removed['y']!.dims).toEqual([2, 5]);
    expect(relativeError(removed['y']!.data, reference['y']!.data), `seed ${seed}`).toBeLessThan(1e-4);
  }
  expect(pruned).toBeGreaterThanOrEqual(graphs * least);
});

test('attention heads are removed from every way in which their shapes are written', () => {
  for (let seed = firstSeed; seed < firstSeed + 40; seed += 1) {
    const report = new TransformReport();
    pruneStructured(
      randomTransformer(seed),
      { strategy: 'random', compression: 2, exclude: [], seed },
      report,
    );
    // Only what lies in the residual stream stays, and the output.
    const stays = report.kept.filter(({ what }) => !what.startsWith('all 16 ') && !what.startsWith('all 5 '));
    expect(stays, `seed ${seed}`).toEqual([]);
    const inHeads = report.kept.filter(({ why }) => !/fixed size|tied to|output of the model/.test(why));
    expect(inHeads, `seed ${seed}`).toEqual([]);
  }
});
