import { describe, expect, test } from 'vitest';
import { quantizeWeightOnly } from '../../../../../shared/onnx/methods/quantize/blocks/weight-only.ts';
import type { DynamicRequest } from '../../../../../shared/onnx/methods/quantize/dynamic/dynamic-graph.ts';
import { quantizeDynamic } from '../../../../../shared/onnx/methods/quantize/dynamic/quantize-dynamic.ts';
import { quantizeStatic } from '../../../../../shared/onnx/methods/quantize/static/quantize-static.ts';
import type { StaticRequest } from '../../../../../shared/onnx/methods/quantize/static/static-operators.ts';
import { TransformReport } from '../../../../../shared/onnx/methods/report/report.ts';
import type { Model } from '../../../../../shared/onnx/model/file/model.ts';
import { makeNode } from '../../../../../shared/onnx/model/graph/graph.ts';
import { makeTensor } from '../../../../../shared/onnx/model/tensor/tensor.ts';
import { calibrated } from '../../../../support/onnx/calibrated.ts';
import { type Floats, runOptimized } from '../../../../support/onnx/run-optimized.ts';
import { seededFloats } from '../../../../support/onnx/seeded.ts';
import { relativeError, smallModel } from '../../../../support/onnx/small-model.ts';
import { seededRandom } from '../../../../support/seeded-random.ts';

const random = seededRandom(5);
const tensor = (name: string, dims: readonly number[], values?: readonly number[]) =>
  makeTensor(
    name,
    'float',
    dims,
    values
      ? Float32Array.from(values)
      : seededFloats(
          random,
          dims.reduce((a, b) => a * b, 1),
        ),
  );

/** Positions to the angles of their encoding, and a layer. */
const weights = [tensor('f', [2, 16]), tensor('w', [16, 32])];
const encoding = () =>
  smallModel({
    nodes: [
      makeNode('MatMul', ['p', 'f'], ['a'], { name: 'angles' }),
      makeNode('Mul', ['a', 'turn'], ['t']),
      makeNode('Sin', ['t'], ['s']),
      makeNode('MatMul', ['s', 'w'], ['y'], { name: 'layer' }),
    ],
    constants: [...weights, tensor('turn', [], [6.28])],
    inputs: { p: [8, 2] },
    outputs: { y: [8, 32] },
  });
const positions: Record<string, Floats>[] = [1, 2, 3, 4].map((by) => ({
  p: { dims: [8, 2], data: Float32Array.from({ length: 16 }, (_, at) => 37 * by * at) },
}));

/** Attention whose scores have a mask, which is −1e9 for the last two of eight. */
const matrices = ['q', 'k', 'v'].map((name) => tensor(`w${name}`, [16, 16]));
const masked = () =>
  smallModel({
    nodes: [
      ...['q', 'k', 'v'].map((name) => makeNode('MatMul', ['x', `w${name}`], [name])),
      makeNode('Transpose', ['k'], ['kt'], { attributes: { perm: [1, 0] } }),
      makeNode('MatMul', ['q', 'kt'], ['s']),
      makeNode('Add', ['s', 'mask'], ['m']),
      makeNode('Softmax', ['m'], ['p'], { attributes: { axis: -1 } }),
      makeNode('MatMul', ['p', 'v'], ['y']),
    ],
    constants: [...matrices, tensor('mask', [8], [0, 0, 0, 0, 0, 0, -1e9, -1e9])],
    inputs: { x: [8, 16] },
    outputs: { y: [8, 16] },
  });
const tokens: Record<string, Floats>[] = [1, 2, 3, 4].map(() => ({
  x: { dims: [8, 16], data: seededFloats(random, 128) },
}));

const request: StaticRequest & DynamicRequest = {
  quant_type: 'int8',
  ...{ per_channel: true, reduce_range: false, leaf_node: false, exclude: [] },
  ...{ include: [], smooth_alpha: null, equalize: false, bias_correction: false, inputs_only: false },
};

async function staticError(made: () => Model, samples: readonly Record<string, Floats>[]): Promise<number> {
  const model = made();
  quantizeStatic(model, request, await calibrated(made(), request, samples), new TransformReport());
  return relativeError(await runOptimized(model, samples), await runOptimized(made(), samples));
}

describe('angles of positions stay float', () => {
  test('in static quantization', async () => {
    expect(await staticError(encoding, positions)).toBeLessThan(0.05);
  });

  test.each([
    [
      'dynamic quantization',
      (model: Model, report: TransformReport) => quantizeDynamic(model, request, report),
    ],
    [
      'blocks',
      (model: Model, report: TransformReport) =>
        quantizeWeightOnly(model, { precision: 8, quant_type: 'int8', exclude: [] }, report),
    ],
  ] as const)('in %s, by name', async (_, quantize) => {
    const model = encoding();
    const report = new TransformReport();
    quantize(model, report);
    expect(report.kept).toEqual([
      { what: 'angles', why: 'it computes angles, whose fractions need float32' },
    ]);
    const error = relativeError(
      await runOptimized(model, positions),
      await runOptimized(encoding(), positions),
    );
    expect(error).toBeLessThan(0.05);
  });
});

test('scores that a mask makes wide stay float in static quantization', async () => {
  expect(await staticError(masked, tokens)).toBeLessThan(0.1);
});
