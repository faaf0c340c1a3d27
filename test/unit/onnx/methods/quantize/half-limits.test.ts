import { describe, expect, test } from 'vitest';
import { quantizeWeightOnly } from '../../../../../shared/onnx/methods/quantize/blocks/weight-only.ts';
import { quantizeDynamic } from '../../../../../shared/onnx/methods/quantize/dynamic/quantize-dynamic.ts';
import { convertToFloat16 } from '../../../../../shared/onnx/methods/quantize/half/float16.ts';
import { TransformReport } from '../../../../../shared/onnx/methods/report/report.ts';
import { makeNode } from '../../../../../shared/onnx/model/graph/graph.ts';
import { makeTensor } from '../../../../../shared/onnx/model/tensor/tensor.ts';
import { seededFloats } from '../../../../support/onnx/seeded.ts';
import { relativeError, runSmall, smallModel } from '../../../../support/onnx/small-model.ts';
import { seededRandom } from '../../../../support/seeded-random.ts';

const random = seededRandom(5);
const floats = (name: string, dims: readonly number[], values: ArrayLike<number>) =>
  makeTensor(name, 'float', dims, Float32Array.from(values));
const weights = (name: string, dims: readonly number[]) =>
  floats(
    name,
    dims,
    seededFloats(
      random,
      dims.reduce((a, b) => a * b, 1),
      0.3,
    ),
  );

/** A normalization whose factor is 1, although its variance may leave half precision. */
const normalized = (variance: number, epsilon: number) =>
  smallModel({
    nodes: [
      makeNode('Conv', ['x', 'w'], ['a']),
      makeNode('Relu', ['a'], ['b']),
      makeNode('BatchNormalization', ['b', 's', 'o', 'o', 'v'], ['y'], {
        attributes: { epsilon: { float: epsilon } },
      }),
    ],
    constants: [
      floats(
        'w',
        [4, 3, 1, 1],
        Array.from({ length: 12 }, (_, at) => (at % 5) - 1.5),
      ),
      floats('s', [4], new Array(4).fill(Math.sqrt(variance + epsilon))),
      floats('o', [4], new Array(4).fill(0)),
      floats('v', [4], new Array(4).fill(variance)),
    ],
    inputs: { x: [1, 3, 4, 4] },
    outputs: { y: [1, 4, 4, 4] },
  });

describe('half precision', () => {
  test.each([
    [2e6, 1e-5],
    [2e-7, 1e-12],
    [1, 1e-5],
  ])('keeps the results of a variance of %d', async (variance, epsilon) => {
    const feeds = { x: { dims: [1, 3, 4, 4], data: seededFloats(random, 48) } };
    const before = await runSmall(normalized(variance, epsilon), feeds);
    const model = normalized(variance, epsilon);

    convertToFloat16(model, { exclude: [] }, new TransformReport());

    const after = await runSmall(model, feeds);
    expect(relativeError(after['y']?.data ?? [], before['y']?.data ?? [])).toBeLessThan(5e-3);
  });

  test('is refused for a model whose constants are in 8 bits already', () => {
    const model = smallModel({
      nodes: [
        makeNode('DequantizeLinear', ['w', 's'], ['f']),
        makeNode('MatMul', ['x', 'f'], ['m']),
        makeNode('Add', ['m', 'b'], ['y']),
      ],
      constants: [
        makeTensor('w', 'int8', [64, 64], new Int8Array(4096).fill(3)),
        floats('s', [], [0.01]),
        floats('b', [4], [1, 2, 3, 4]),
      ],
      inputs: { x: [1, 64] },
      outputs: { y: [1, 64] },
    });

    const convert = () => convertToFloat16(model, { exclude: [] }, new TransformReport());

    expect(convert).toThrow(/would make nothing smaller.*already in 8 bits/);
  });
});

describe('a model in half precision', () => {
  const half = () =>
    smallModel({
      nodes: [
        makeNode('Cast', ['x'], ['h'], { attributes: { to: 10 } }),
        makeNode('MatMul', ['h', 'w'], ['a']),
        makeNode('Cast', ['a'], ['y'], { attributes: { to: 1 } }),
      ],
      constants: [{ ...halfWeights, name: 'w' }],
      inputs: { x: [2, 64] },
      outputs: { y: [2, 32] },
    });
  const halfWeights = makeTensor(
    'w',
    'float16',
    [64, 32],
    new Float16Array(weights('w', [64, 32]).bytes().length / 4).map((_, at) => ((at * 37) % 101) / 100 - 0.5),
  );

  test.each(['blocks of 4 bits', 'blocks of 8 bits', 'dynamic 8 bits'])('is quantized in %s', async (how) => {
    const feeds = { x: { dims: [2, 64], data: seededFloats(random, 128) } };
    const before = await runSmall(half(), feeds);
    const model = half();
    const report = new TransformReport();

    if (how.startsWith('blocks')) {
      const precision = how.includes('4') ? 4 : 8;
      quantizeWeightOnly(model, { precision, quant_type: `int${precision}`, exclude: [] }, report);
    } else
      quantizeDynamic(
        model,
        {
          ...{ quant_type: 'int8', per_channel: true, reduce_range: false, leaf_node: false },
          ...{ exclude: [], include: [], smooth_alpha: null, equalize: false, bias_correction: false },
        },
        report,
      );

    const after = await runSmall(model, feeds);
    expect(model.graph.initializers.has('w')).toBe(false);
    expect(relativeError(after['y']?.data ?? [], before['y']?.data ?? [])).toBeLessThan(
      how.includes('4') ? 0.15 : 0.03,
    );
  });
});

test('half precision keeps the angles of positions, of which it would lose the fraction', async () => {
  const w = weights('w', [32, 32]);
  const frequencies = Array.from({ length: 16 }, (_, at) => 0.7 ** at);
  const rotary = () =>
    smallModel({
      nodes: [
        makeNode('Mul', ['p', 'frequencies'], ['angles']),
        makeNode('Concat', ['angles', 'angles'], ['both'], { attributes: { axis: 1 } }),
        makeNode('Cos', ['both'], ['cos']),
        makeNode('MatMul', ['x', 'w'], ['h']),
        makeNode('Mul', ['h', 'cos'], ['y']),
      ],
      constants: [floats('frequencies', [1, 16], frequencies), w],
      inputs: { p: [4, 1], x: [4, 32] },
      outputs: { y: [4, 32] },
    });
  const feeds = {
    p: { dims: [4, 1], data: Float32Array.of(0, 777, 3001, 8191) },
    x: { dims: [4, 32], data: seededFloats(random, 128) },
  };
  const before = await runSmall(rotary(), feeds);
  const model = rotary();

  convertToFloat16(model, { exclude: [] }, new TransformReport());

  const after = await runSmall(model, feeds);
  expect(relativeError(after['y']?.data ?? [], before['y']?.data ?? [])).toBeLessThan(2e-3);
});
