import { describe, expect, test } from 'vitest';
import { makeNode } from '../../../../shared/onnx/graph/make-node.ts';
import { convertToFloat16 } from '../../../../shared/onnx/quantize/float16.ts';
import { makeTensor } from '../../../../shared/onnx/tensor/tensor.ts';
import { TransformReport } from '../../../../shared/onnx/transform/report.ts';
import { fusedTransformer } from '../../../support/onnx/fused-network.ts';
import { runOptimized } from '../../../support/onnx/run-optimized.ts';
import { seededFloats } from '../../../support/onnx/seeded.ts';
import { copyOf, relativeError, runSmall, smallModel } from '../../../support/onnx/small-model.ts';
import { seededRandom } from '../../../support/seeded-random.ts';

const fed = { x: { dims: [2, 16], data: seededFloats(seededRandom(5), 32) } };

const make = (scale = 1) =>
  smallModel({
    nodes: [
      makeNode('MatMul', ['x', 'w'], ['a'], { name: 'product' }),
      makeNode('Exp', ['a'], ['b'], { name: 'growth' }),
      makeNode('Mul', ['b', 'w2'], ['y'], { name: 'scaled' }),
      makeNode('Relu', ['y'], ['z'], { name: 'last' }),
    ],
    constants: [
      makeTensor('w', 'float', [16, 16], seededFloats(seededRandom(6), 256, 0.2)),
      makeTensor('w2', 'float', [16], seededFloats(seededRandom(7), 16, scale)),
    ],
    inputs: { x: [2, 16] },
    outputs: { y: [2, 16], z: [2, 16] },
  });

describe('half precision', () => {
  test('answers nearly the same, with inputs and outputs of float32', async () => {
    const before = await runSmall(make(), fed);
    const model = make();
    const report = new TransformReport();
    convertToFloat16(model, { exclude: [] }, report);
    const saved = copyOf(model);
    const after = await runSmall(saved, fed);
    for (const name of ['y', 'z']) {
      expect(relativeError(after[name]?.data ?? [], before[name]?.data ?? [])).toBeLessThan(2e-3);
    }
    expect(saved.graph.initializers.get('w_float16')?.type).toBe('float16');
    expect(saved.graph.initializers.has('w')).toBe(false);
    expect(report.kept.map(({ what }) => what)).toEqual(['growth']);
    expect(report.layers.every(({ error }) => error !== null && error < 1e-3)).toBe(true);
  });

  test('values beyond its range are clamped, with a warning', () => {
    const model = make(1e6);
    const report = new TransformReport();
    convertToFloat16(model, { exclude: [] }, report);
    copyOf(model);
    expect(report.warnings).toEqual([
      expect.stringMatching(/^\d+ of 16 values of w2 were clamped to ±65504\.$/),
    ]);
  });

  test('a Cast of float to float is none of halves, which ONNX Runtime takes for its own', async () => {
    const made = () =>
      smallModel({
        nodes: [
          makeNode('Div', ['x', 'w'], ['a']),
          makeNode('Cast', ['a'], ['b'], { attributes: { to: 1 } }),
          makeNode('Sqrt', ['b'], ['c']),
          makeNode('Sqrt', ['b'], ['d']),
          makeNode('Add', ['c', 'd'], ['y']),
        ],
        constants: [makeTensor('w', 'float', [16], new Float32Array(16).fill(2))],
        inputs: { x: [2, 16] },
        outputs: { y: [2, 16] },
      });
    const positive = { x: { ...fed.x, data: fed.x.data.map(Math.abs) } };
    const model = made();
    convertToFloat16(model, { exclude: [] }, new TransformReport());
    const after = await runSmall(copyOf(model), positive);
    const before = await runSmall(made(), positive);
    expect(relativeError(after['y']?.data ?? [], before['y']?.data ?? [])).toBeLessThan(2e-3);
  });

  test('what a request excludes stays in float32', () => {
    const model = make();
    convertToFloat16(model, { exclude: ['MatMul'] }, new TransformReport());
    expect(copyOf(model).graph.initializers.get('w')?.type).toBe('float');
  });

  test.each(['Attention', 'MultiHeadAttention'] as const)(
    'fused graphs with %s are converted',
    async (name) => {
      const original = fusedTransformer(name);
      const model = copyOf(original);
      const report = new TransformReport();
      convertToFloat16(model, { exclude: [] }, report);
      const saved = copyOf(model);
      expect([...saved.graph.initializers.values()].map(({ type }) => type)).not.toContain('float');
      expect(report.kept).toEqual([]);
      const values = { x: { dims: [2, 5, 16], data: seededFloats(seededRandom(5), 160) } };
      const [after, before] = [await runOptimized(saved, [values]), await runOptimized(original, [values])];
      expect(relativeError(after, before)).toBeLessThan(5e-3);
    },
  );
});
