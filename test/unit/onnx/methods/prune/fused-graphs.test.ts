import { expect, test } from 'vitest';
import { pruneStructured } from '../../../../../shared/onnx/methods/prune/structured/prune-structured.ts';
import { TransformReport } from '../../../../../shared/onnx/methods/report/report.ts';
import type { Model } from '../../../../../shared/onnx/model/file/model.ts';
import { intAttribute } from '../../../../../shared/onnx/model/graph/attributes.ts';
import { makeTensor } from '../../../../../shared/onnx/model/tensor/tensor.ts';
import { floatsOf } from '../../../../../shared/onnx/model/tensor/values.ts';
import { fusedTransformer } from '../../../../support/onnx/fused-network.ts';
import { seededFloats } from '../../../../support/onnx/seeded.ts';
import { copyOf, relativeError, runSmall } from '../../../../support/onnx/small-model.ts';
import { seededRandom } from '../../../../support/seeded-random.ts';

const feeds = { x: { dims: [2, 5, 16], data: seededFloats(seededRandom(4), 160) } };

/** Zeroes the rows of a product's weight that the pruned model no longer has, found by the values of its rows. */
function zeroRows(model: Model, pruned: Model, name: string): void {
  const before = model.graph.initializer(name)!;
  const after = floatsOf(pruned.graph.initializer(name)!);
  const width = before.dims[1]!;
  const kept = new Set(Array.from({ length: after.length / width }, (_, row) => after[row * width]));
  const values = floatsOf(before).map((value, at, all) =>
    kept.has(all[Math.floor(at / width) * width]) ? value : 0,
  );
  model.graph.put(makeTensor(name, 'float', before.dims, values));
}

test.each(['Attention', 'MultiHeadAttention'] as const)(
  '%s loses heads, and BiasGelu neurons',
  async (name) => {
    const original = fusedTransformer(name);
    const model = copyOf(original);
    const report = new TransformReport();
    pruneStructured(model, { strategy: 'structured_l2', compression: 2, exclude: [], seed: 0 }, report);
    const { nodes } = model.graph;
    const attention = nodes.find(({ opType }) => opType === name)!;
    const heads = intAttribute(attention, 'num_heads', 0);
    expect(heads).toBeLessThan(4);
    expect(report.pruning!.groups.map(({ channels_before }) => channels_before)).toContain(32);
    expect(model.graph.initializer('o.w')?.dims).toEqual([heads * 4, 16]);
    expect(model.graph.initializer('bias')?.dims).toEqual([heads * 12]);
    for (const weight of ['o.w', 'down.w']) zeroRows(original, model, weight);
    const [is, shouldBe] = [await runSmall(model, feeds), await runSmall(original, feeds)];
    expect(relativeError(is['y']!.data, shouldBe['y']!.data)).toBeLessThan(1e-5);
  },
);

test('heads stay where each has a bias of its own, and with the reason', () => {
  const model = fusedTransformer();
  const attention = model.graph.nodes[0]!;
  model.graph.put(makeTensor('each', 'float', [1, 4, 5, 5], new Float32Array(100)));
  attention.input.push('', '', 'each');
  const report = new TransformReport();
  pruneStructured(model, { strategy: 'structured_l2', compression: 2, exclude: [], seed: 0 }, report);
  expect(intAttribute(attention, 'num_heads', 0)).toBe(4);
  expect(report.kept.map(({ why }) => why)).toContain('Attention attention has a bias for each head');
});
