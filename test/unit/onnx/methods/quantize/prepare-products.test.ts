import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { leastErrorRange } from '../../../../../shared/onnx/methods/calibrate/collectors/mse-collector.ts';
import type { CalibrationStatistics } from '../../../../../shared/onnx/methods/calibrate/statistics-file.ts';
import { meanError } from '../../../../../shared/onnx/methods/quantize/correct-biases.ts';
import { equalizeLayers } from '../../../../../shared/onnx/methods/quantize/equalize-layers.ts';
import { prepareProducts } from '../../../../../shared/onnx/methods/quantize/prepare-products.ts';
import { smoothingFactors } from '../../../../../shared/onnx/methods/quantize/smooth-activations.ts';
import type { Model } from '../../../../../shared/onnx/model/file/model.ts';
import { makeNode, Names } from '../../../../../shared/onnx/model/graph/graph.ts';
import { makeTensor } from '../../../../../shared/onnx/model/tensor/tensor.ts';
import { floatsOf } from '../../../../../shared/onnx/model/tensor/values.ts';
import { nonEmpty } from '../../../../support/non-empty.ts';
import { runOptimized, sampleOf } from '../../../../support/onnx/run-optimized.ts';
import { seededFloats } from '../../../../support/onnx/seeded.ts';
import { relativeError, smallModel } from '../../../../support/onnx/small-model.ts';
import { seededRandom } from '../../../../support/seeded-random.ts';

interface LayerCase {
  first: string;
  second: string;
  activation: number[];
  smoothing: { alpha: number; factors: string }[];
  equalized: { first: string; second: string };
  mean: number[];
  mean_error: number[];
  range: { values: number[]; counts: number[]; best: [number, number] };
}

/** What the NumPy programs in `references` answered. */
const reference = JSON.parse(
  readFileSync(join(import.meta.dirname, 'references/layers.json'), 'utf8'),
) as LayerCase;
const floats = (text: string) => new Float32Array(new Uint8Array(Buffer.from(text, 'base64')).buffer);
const first = makeTensor('first', 'float', [6, 8], floats(reference.first));
const second = makeTensor('second', 'float', [8, 5], floats(reference.second));

describe('as NumPy computes it', () => {
  test.each(reference.smoothing)('factors of SmoothQuant with α $alpha', ({ alpha, factors }) => {
    const values = floatsOf(first);
    const largest = Array.from({ length: 6 }, (_, row) =>
      Math.max(...values.subarray(8 * row, 8 * row + 8).map(Math.abs)),
    );
    expect(smoothingFactors(reference.activation, largest, alpha)).toEqual(floats(factors));
  });

  test('weights of two layers after equalization', () => {
    const model = smallModel({
      nodes: [
        makeNode('Gemm', ['x', 'first'], ['a']),
        makeNode('Relu', ['a'], ['b']),
        makeNode('Gemm', ['b', 'second'], ['y']),
      ],
      constants: [first, second],
      inputs: { x: [1, 6] },
      outputs: { y: [1, 5] },
    });
    expect(equalizeLayers(model.graph, new Names(model.graph), [])).toBe(1);
    for (const name of ['first', 'second'] as const) {
      const equalized = model.graph.initializers.get(`${name}_equalized`);
      const expected = floats(reference.equalized[name]);
      for (const [at, value] of nonEmpty(equalized && floatsOf(equalized)).entries())
        expect(value / (expected[at] ?? 0)).toBeCloseTo(1, 6);
    }
  });

  test('what a quantized weight takes from its outputs on average', () => {
    const product = { node: makeNode('MatMul', ['x', 'first'], ['y']), tensor: first, inputAxis: 0 } as const;
    const mapping = { type: 'int8', symmetric: true, reduced: false } as const;
    const found = meanError(product, reference.mean, mapping, true);
    for (const [at, value] of nonEmpty(found).entries())
      expect(value).toBeCloseTo(reference.mean_error[at] ?? 0, 12);
    expect(found).toHaveLength(8);
  });

  test('the range of least squared error', () => {
    const { values, counts, best } = reference.range;
    const distribution = { values: Float64Array.from(values), counts: Float64Array.from(counts) };
    const whole = { min: Math.min(...values), max: Math.max(...values) };
    expect(leastErrorRange(distribution, whole)).toEqual({ min: best[0], max: best[1] });
  });
});

const constant = (name: string, dims: readonly number[], seed: number) =>
  makeTensor(
    name,
    'float',
    dims,
    seededFloats(
      seededRandom(seed),
      dims.reduce((a, b) => a * b, 1),
    ),
  );

/** Products behind a normalization that serves them alone, and behind an input that others take, too. */
const network = (): Model =>
  smallModel({
    nodes: [
      makeNode('LayerNormalization', ['x', 'gain', 'shift'], ['n'], { name: 'norm' }),
      makeNode('MatMul', ['n', 'a'], ['left'], { name: 'left' }),
      makeNode('Gemm', ['n', 'b', 'c'], ['right'], { name: 'right', attributes: { transB: 1 } }),
      makeNode('MatMul', ['x', 'd'], ['direct'], { name: 'direct' }),
      makeNode('Add', ['left', 'right'], ['sum']),
      makeNode('Add', ['sum', 'direct'], ['z']),
      makeNode('Relu', ['z'], ['h']),
      makeNode('Gemm', ['h', 'e', 'c'], ['y'], { name: 'last' }),
    ],
    constants: [
      constant('gain', [4], 1),
      constant('shift', [4], 2),
      constant('a', [4, 4], 3),
      constant('b', [4, 4], 4),
      constant('c', [4], 5),
      constant('d', [4, 4], 6),
      constant('e', [4, 4], 7),
    ],
    inputs: { x: [3, 4] },
    outputs: { y: [3, 4] },
  });

const observed = (largest: number[], mean: number[]) => ({
  channels: 4,
  rows: 9,
  largest: Float64Array.from(largest),
  mean: Float64Array.from(mean),
  moment: () => undefined,
});

const statistics: CalibrationStatistics = new Map([
  ['n', observed([1, 40, 0.1, 2], [0.5, 0, -0.5, 1])],
  ['x', observed([3, 0.2, 0, 2], [0.1, 0.2, 0, -1])],
]);
const form = { mapping: { type: 'int8', symmetric: true, reduced: false }, isPerChannel: true } as const;
const plain = { equalize: false, smooth_alpha: null, bias_correction: false, exclude: [] };
const samples = [sampleOf('x', [3, 4], 1), sampleOf('x', [3, 4], 2)];

describe('a smoothed model', () => {
  test('computes the same; factors go into a LayerNormalization of its own products, else into a Mul', async () => {
    const model = network();
    const notes = prepareProducts(model, { ...plain, smooth_alpha: 0.5 }, form, statistics);
    expect(notes).toEqual(['2 activations were smoothed, 1 of them by an additional Mul.']);
    expect(model.graph.nodes.map(({ opType }) => opType)).toContain('Mul');
    expect(
      relativeError(await runOptimized(model, samples), await runOptimized(network(), samples)),
    ).toBeLessThan(1e-6);
  });

  test('leaves out what is excluded', () => {
    const model = network();
    const exclude = ['left', 'right', 'direct'];
    const notes = prepareProducts(model, { ...plain, smooth_alpha: 0.5, exclude }, form, statistics);
    expect(notes).toEqual(['0 activations were smoothed, 0 of them by an additional Mul.']);
  });
});

test('biases are corrected where there are any, and made where there are none', () => {
  const model = network();
  const notes = prepareProducts(model, { ...plain, bias_correction: true }, form, statistics);
  expect(notes).toEqual(['3 biases compensate for the mean error of their weights.']);
  expect(model.graph.nodes.map(({ opType }) => opType).filter((one) => one === 'Add')).toHaveLength(4);
  const right = model.graph.nodes.find(({ name }) => name === 'right');
  expect(right?.input[2]).toBe('c_corrected');
  // Another user of the same bias keeps it.
  expect(model.graph.nodes.find(({ name }) => name === 'last')?.input[2]).toBe('c');
});

test('equalization goes through convolutions, depthwise ones too, and computes the same', async () => {
  const made = () =>
    smallModel({
      nodes: [
        makeNode('Conv', ['x', 'w1', 'b1'], ['a'], { name: 'first', attributes: { pads: [1, 1, 1, 1] } }),
        makeNode('Relu', ['a'], ['ar']),
        makeNode('Conv', ['ar', 'w2', 'b1'], ['b'], { name: 'depthwise', attributes: { group: 6 } }),
        makeNode('LeakyRelu', ['b'], ['br']),
        makeNode('Conv', ['br', 'w3'], ['c'], { name: 'last' }),
        makeNode('Clip', ['c'], ['cr']),
        makeNode('Conv', ['cr', 'w4'], ['y'], { name: 'behind' }),
      ],
      constants: [
        constant('w1', [6, 2, 3, 3], 1),
        constant('b1', [6], 2),
        constant('w2', [6, 1, 3, 3], 3),
        constant('w3', [4, 6, 1, 1], 4),
        constant('w4', [3, 4, 1, 1], 5),
      ],
      inputs: { x: [1, 2, 6, 6] },
      outputs: { y: [1, 3, 4, 4] },
    });
  const model = made();
  expect(equalizeLayers(model.graph, new Names(model.graph), [])).toBe(2);
  const images = [sampleOf('x', [1, 2, 6, 6], 3)];
  expect(relativeError(await runOptimized(model, images), await runOptimized(made(), images))).toBeLessThan(
    1e-5,
  );
});
