import { create } from '@bufbuild/protobuf';
import { describe, expect, test } from 'vitest';
import { calibrationTargets } from '../../../../../shared/onnx/methods/apply/calibration-targets.ts';
import type { CalibrationRanges } from '../../../../../shared/onnx/methods/calibrate/ranges.ts';
import {
  prepareStatic,
  quantizeStatic,
} from '../../../../../shared/onnx/methods/quantize/static/quantize-static.ts';
import type { StaticRequest } from '../../../../../shared/onnx/methods/quantize/static/static-operators.ts';
import { TransformReport } from '../../../../../shared/onnx/methods/report/report.ts';
import type { Model } from '../../../../../shared/onnx/model/file/model.ts';
import { makeNode } from '../../../../../shared/onnx/model/graph/graph.ts';
import { valueInfoOf } from '../../../../../shared/onnx/model/graph/value-info.ts';
import {
  AttributeProto_AttributeType,
  AttributeProtoSchema,
  GraphProtoSchema,
} from '../../../../../shared/onnx/model/proto/onnx_pb.js';
import { makeTensor } from '../../../../../shared/onnx/model/tensor/tensor.ts';
import { floatsOf } from '../../../../../shared/onnx/model/tensor/values.ts';
import { calibrated } from '../../../../support/onnx/calibrated.ts';
import { convolutional, depthwise, transformer } from '../../../../support/onnx/quantizable-networks.ts';
import { type Floats, runOptimized, sampleOf } from '../../../../support/onnx/run-optimized.ts';
import { seededFloats } from '../../../../support/onnx/seeded.ts';
import { copyOf, relativeError, smallModel } from '../../../../support/onnx/small-model.ts';
import { seededRandom } from '../../../../support/seeded-random.ts';

const request: StaticRequest = {
  quant_type: 'int8',
  per_channel: true,
  reduce_range: false,
  leaf_node: false,
  exclude: [],
  smooth_alpha: null,
  equalize: false,
  bias_correction: false,
  inputs_only: false,
};

const images = [1, 2, 3, 4, 5, 6].map((seed) => sampleOf('x', [1, 8, 6, 6], seed));
const tokens = [1, 2, 3, 4, 5, 6].map((seed) => sampleOf('x', [1, 4, 16], seed));

async function quantized(
  made: () => Model,
  samples: readonly Record<string, Floats>[],
  changes: Partial<StaticRequest> = {},
) {
  const changed = { ...request, ...changes };
  const ranges = await calibrated(made(), changed, samples);
  return withRanges(made(), ranges, changed);
}

function withRanges(model: Model, ranges: CalibrationRanges, changes: Partial<StaticRequest> = {}) {
  const report = new TransformReport();
  quantizeStatic(model, { ...request, ...changes }, ranges, report);
  return { model: copyOf(model), report };
}

const operators = ({ graph }: Model): string[] => graph.nodes.map(({ opType }) => opType);
const countOf = (model: Model, operator: string): number =>
  operators(model).filter((one) => one === operator).length;

describe('whole networks answer nearly the same', () => {
  test.each([
    [10, {}],
    [11, { quant_type: 'uint8' }],
    [13, {}],
    [13, { quant_type: 'uint8', per_channel: false }],
    [17, { leaf_node: true }],
    [17, { reduce_range: true }],
  ] as const)('convolutions of opset %d with %o', async (opset, changes) => {
    const { model } = await quantized(() => convolutional(opset), images, changes);
    const error = relativeError(
      await runOptimized(model, images),
      await runOptimized(convolutional(opset), images),
    );
    expect(error).toBeLessThan(0.1);
  });

  test.each([
    [() => depthwise(13), images],
    [() => transformer(13), tokens],
    [() => transformer(17), tokens],
  ] as const)('depthwise convolutions and a transformer', async (made, samples) => {
    for (const changes of [{}, { leaf_node: true }, { quant_type: 'uint8' } as const]) {
      const { model } = await quantized(made, samples, changes);
      const error = relativeError(await runOptimized(model, samples), await runOptimized(made(), samples));
      expect(error).toBeLessThan(0.08);
    }
  });
});

describe('the form of the result', () => {
  test('normalization is folded, Relu is done by quantization, moved values keep their scale', async () => {
    const { model, report } = await quantized(() => convolutional(13), images);
    expect(countOf(model, 'BatchNormalization')).toBe(0);
    expect(countOf(model, 'Relu')).toBe(0);
    expect(report.notes).toEqual(['3 BatchNormalization were folded into the Conv before them.']);
    const scaleOf = (input: string) =>
      model.graph.nodes.find((node) => node.opType === 'QuantizeLinear' && node.input[0] === input)?.input[1];
    expect(scaleOf('pool')).toBe(scaleOf('sum.out'));
    expect(scaleOf('flat')).toBe(scaleOf('both'));
    expect(scaleOf('both')).not.toBe(scaleOf('d'));
    expect(model.graph.outputs.map(({ name }) => name)).toEqual(['y']);
    expect(report.layers.map(({ weight }) => weight)).toEqual([
      'a.w_folded',
      'b.w_folded',
      'c.w_folded',
      'd.w',
      'e.w',
      'fc.w',
    ]);
    expect(report.layers.every(({ error }) => error !== null && error > 0 && error < 0.02)).toBe(true);
  });

  test('weights are symmetric int8 by output channel, biases int32 at the scale of the product', async () => {
    const { model } = await quantized(() => convolutional(13), images, { quant_type: 'uint8' });
    const tensor = (name: string) => model.graph.initializers.get(name);
    expect(tensor('d.w_quantized')).toMatchObject({ type: 'int8', dims: [4, 8, 1, 1] });
    expect(tensor('d.w_scale')?.dims).toEqual([4]);
    expect(tensor('fc.w_scale')?.dims).toEqual([5]);
    expect([...(tensor('d.w_zero_point')?.bytes() ?? [1])]).toEqual([0, 0, 0, 0]);
    expect(tensor('d.b_quantized')).toMatchObject({ type: 'int32', dims: [4] });
    expect(tensor('x_zero_point')?.type).toBe('uint8');
    const [weight, bias] = ['d.w_scale', 'd.b_quantized_scale'].map((name) => {
      const found = tensor(name);
      return found ? floatsOf(found) : new Float32Array();
    });
    const [input = 0] = tensor('sum.out_scale') ? floatsOf(tensor('sum.out_scale')!) : [];
    expect(bias).toEqual(weight?.map((scale) => Math.fround(scale * input)));
  });

  test('below opset 13 weights have one scale each, and it is said', async () => {
    const { model, report } = await quantized(() => convolutional(12), images);
    expect(model.graph.initializers.get('d.w_scale')?.dims).toEqual([]);
    expect(report.notes).toContain(
      'Weights have one scale each: scales per channel need opset 13; the model has 12.',
    );
  });

  test('int8 activations that are shared are slow on x64, and it is said', async () => {
    const warnings = async (quant_type: 'int8' | 'uint8') =>
      (await quantized(() => convolutional(13), images, { quant_type })).report.warnings;
    expect(await warnings('int8')).toEqual([
      expect.stringContaining('uint8 is equally accurate and always fast'),
    ]);
    expect(await warnings('uint8')).toEqual([]);
  });

  test('leaf_node leaves what lies between the weights as it is', async () => {
    const { model } = await quantized(() => transformer(17), tokens, { leaf_node: true });
    expect(countOf(model, 'QuantizeLinear')).toBe(9);
    const float = model.graph.nodes.find(({ output }) => output.includes('qk'));
    expect(float?.input).toEqual(['q.t', 'k.t']);
  });

  test('a constant that is used as a weight and as an operand is quantized for both', async () => {
    const made = () =>
      smallModel({
        nodes: [
          makeNode('MatMul', ['x', 'w'], ['a'], { name: 'product' }),
          makeNode('Add', ['a', 'w'], ['y'], { name: 'sum' }),
        ],
        constants: [makeTensor('w', 'float', [3, 3], seededFloats(seededRandom(1), 9))],
        inputs: { x: [3, 3] },
        outputs: { y: [3, 3] },
      });
    const samples = [sampleOf('x', [3, 3], 1)];
    const { model } = await quantized(made, samples, { quant_type: 'uint8' });
    const types = ['w_quantized', 'w_quantized_2'].map((name) => model.graph.initializers.get(name)?.type);
    expect(types.toSorted()).toEqual(['int8', 'uint8']);
    const error = relativeError(await runOptimized(model, samples), await runOptimized(made(), samples));
    expect(error).toBeLessThan(0.02);
  });
});

/** Conv with a bias, then what `after` makes of its result `c`. */
const convAnd = (after: ReturnType<typeof makeNode>[], bias = [0.5, -0.5], opset = 13) =>
  smallModel({
    nodes: [makeNode('Conv', ['x', 'w', 'b'], ['c'], { name: 'conv' }), ...after],
    constants: [
      makeTensor('w', 'float', [2, 2, 1, 1], Float32Array.of(0.5, -0.25, 1, 0.75)),
      makeTensor('b', 'float', [2], Float32Array.from(bias)),
      makeTensor('one', 'float', [], Float32Array.of(1)),
      makeTensor('six', 'float', [], Float32Array.of(6)),
      makeTensor('zero', 'float', [], Float32Array.of(0)),
    ],
    inputs: { x: [1, 2, 3, 3] },
    outputs: { y: [1, 2, 3, 3] },
    opset,
  });

describe('Relu and Clip', () => {
  const ranges = new Map([
    ['x', { min: -1, max: 1 }],
    ['c', { min: -2, max: 2 }],
    ['y', { min: 0, max: 2 }],
  ]);

  test.each([
    ['Relu', makeNode('Relu', ['c'], ['y']), 0],
    ['Clip from 0', makeNode('Clip', ['c', 'zero', 'six'], ['y']), 0],
    ['Clip without bounds', makeNode('Clip', ['c', '', ''], ['y']), 0],
    ['Clip from 1, which quantization cannot do', makeNode('Clip', ['c', 'one', 'six'], ['y']), 1],
  ] as const)('%s', (_, node, left) => {
    const { model } = withRanges(convAnd([node]), ranges);
    expect(countOf(model, 'Relu') + countOf(model, 'Clip')).toBe(left);
  });

  test('stay where another node needs the value before them', () => {
    const after = [makeNode('Relu', ['c'], ['r']), makeNode('Add', ['c', 'r'], ['y'], { name: 'sum' })];
    const { model } = withRanges(convAnd(after), new Map([...ranges, ['r', { min: 0, max: 2 }]]));
    expect(countOf(model, 'Relu')).toBe(1);
  });

  test('stay where calibration saw nothing but zeros, and still clip', async () => {
    const silent = new Map([...ranges, ['y', { min: 0, max: 0 }]]);
    const { model } = withRanges(convAnd([makeNode('Relu', ['c'], ['y'])]), silent);
    expect(countOf(model, 'Relu')).toBe(1);
    const [least = -1] = (await runOptimized(model, [sampleOf('x', [1, 2, 3, 3], 1)])).toSorted();
    expect(least).toBe(0);
  });
});

describe('squares, whose small values 8 bits do not hold', () => {
  const quantizedValues = ({ graph }: Model): (string | undefined)[] =>
    graph.nodes
      .filter(({ opType }) => opType === 'QuantizeLinear')
      .map(({ input }) => input[0]?.replace('_QuantizeLinear_Input', ''));

  /** The magnitudes of a spectrum, as models that hear begin, and a convolution of them. */
  const spectrum = (square: (name: string, out: string) => ReturnType<typeof makeNode>) =>
    smallModel({
      nodes: [
        makeNode('Conv', ['x', 're'], ['a'], { name: 'real' }),
        makeNode('Conv', ['x', 'im'], ['b'], { name: 'imaginary' }),
        square('a', 'aa'),
        square('b', 'bb'),
        makeNode('Add', ['aa', 'bb'], ['power'], { name: 'sum' }),
        makeNode('Sqrt', ['power'], ['magnitude'], { name: 'root' }),
        makeNode('Conv', ['magnitude', 'w'], ['y'], { name: 'conv' }),
      ],
      constants: [
        makeTensor('two', 'float', [], Float32Array.of(2)),
        ...['re', 'im', 'w'].map((name, seed) =>
          makeTensor(name, 'float', [8, 8, 1, 1], seededFloats(seededRandom(seed + 1), 64)),
        ),
      ],
      inputs: { x: [1, 8, 6, 6] },
      outputs: { y: [1, 8, 6, 6] },
    });
  const quieter = images.map(({ x }, index) => ({
    x: { ...x!, data: x!.data.map((value) => value / 4 ** index) },
  }));

  test.each([
    ['Mul', (name: string, out: string) => makeNode('Mul', [name, name], [out], { name: out })],
    ['Pow', (name: string, out: string) => makeNode('Pow', [name, 'two'], [out], { name: out })],
  ])('a spectrum by %s stays float up to its root', async (_, square) => {
    const { model } = await quantized(() => spectrum(square), quieter, { quant_type: 'uint8' });
    expect(quantizedValues(model)).toEqual(['x', 'a', 'b', 'magnitude', 'y']);
  });

  test('a variance stays float, to which a small number is added before its root', async () => {
    const made = () =>
      convAnd([
        makeNode('ReduceMax', ['c'], ['spread'], { name: 'spread' }),
        makeNode('Add', ['spread', 'one'], ['raised'], { name: 'raise' }),
        makeNode('Sqrt', ['raised'], ['root'], { name: 'root' }),
        makeNode('Div', ['c', 'root'], ['y'], { name: 'divide' }),
      ]);
    const { model } = await quantized(made, [sampleOf('x', [1, 2, 3, 3], 1)], { quant_type: 'uint8' });
    expect(quantizedValues(model)).toEqual(['x', 'c']);
  });

  test('a sum of a square and of something else is quantized', async () => {
    const made = () =>
      convAnd([
        makeNode('Mul', ['c', 'c'], ['square'], { name: 'square' }),
        makeNode('Add', ['square', 'c'], ['y'], { name: 'sum' }),
      ]);
    const { model } = await quantized(made, [sampleOf('x', [1, 2, 3, 3], 1)], { quant_type: 'uint8' });
    expect(quantizedValues(model)).toEqual(['x', 'c', 'square', 'y']);
  });
});

describe('biases', () => {
  const relu = [makeNode('Relu', ['c'], ['y'])];
  const ranges = new Map([
    ['x', { min: -1e-6, max: 1e-6 }],
    ['y', { min: 0, max: 900 }],
  ]);

  test('that would not fit into int32 raise the scale of their weight', () => {
    const scaleOf = (bias: number[]) => {
      const tensor = withRanges(convAnd(relu, bias), ranges).model.graph.initializers.get('w_scale');
      return tensor ? [...floatsOf(tensor)] : [];
    };
    const [first = 0, second = 0] = scaleOf([0.5, 0.5]);
    const [raised = 0, same = 0] = scaleOf([900, 0.5]);
    expect(same).toBe(second);
    // 1.0001 · 2 · 900 / (2^32 − 2), over the scale of the activation.
    expect(raised / first).toBeCloseTo((1.0001 * 1800) / 4294967294 / (2e-6 / 255) / first, 3);
    expect(raised).toBeGreaterThan(first);
  });

  test('shared by two nodes are quantized for each', () => {
    const nodes = [
      makeNode('Conv', ['c', 'w', 'b'], ['d'], { name: 'second' }),
      makeNode('Relu', ['d'], ['y']),
    ];
    const more = new Map([...ranges, ['c', { min: -5, max: 5 }]]);
    const { model } = withRanges(convAnd(nodes), more);
    const names = [...model.graph.initializers.keys()].filter((name) => name.startsWith('b_quantized'));
    expect(names).toHaveLength(6);
  });
});

describe('what stays as it was', () => {
  test('excluded nodes, and what else has no quantized form', async () => {
    const { model, report } = await quantized(() => convolutional(13), images, {
      exclude: ['MaxPool', 'a.conv_node'],
    });
    expect(report.kept).toEqual([
      { what: 'a.conv_node', why: 'the request excludes it' },
      { what: 'pool_node', why: 'the request excludes it' },
    ]);
    const conv = model.graph.nodes.find(({ name }) => name === 'a.conv_node');
    expect(conv?.input).toEqual(['x', 'a.w_folded', 'a.w_folded_bias']);
    const pool = model.graph.nodes.find(({ opType }) => opType === 'MaxPool');
    expect(pool?.input).toEqual(['sum.out_DequantizeLinear_Output']);
  });

  test('weights that hold NaN; where there are no others, the fault says that', () => {
    const model = convAnd([makeNode('Relu', ['c'], ['y'])]);
    model.graph.put(makeTensor('w', 'float', [2, 2, 1, 1], Float32Array.of(0.5, Number.NaN, 1, 1)));
    expect(() => withRanges(model, new Map([['x', { min: 0, max: 1 }]]))).toThrow(
      "Static methods can quantize none of the model's weights. Unchanged: w: it contains values that are not finite",
    );
  });

  test('a bias that holds NaN, which no integer stands for', () => {
    const made = () => convAnd([makeNode('Relu', ['c'], ['y'])], [Number.NaN, 1]);
    const ranges = new Map(['x', 'c', 'y'].map((name) => [name, { min: 0, max: 1 }]));
    const { model, report } = withRanges(made(), ranges);
    expect(report.kept).toContainEqual({ what: 'b', why: 'it contains values that are not finite' });
    expect(model.graph.nodes.find(({ opType }) => opType === 'Conv')?.input[2]).toBe('b');
  });

  test('values without a range, and those that hold a mask`s minus infinity', async () => {
    const nodes = [
      makeNode('Add', ['c', 'mask'], ['masked'], { name: 'mask' }),
      makeNode('Softmax', ['masked'], ['y'], { name: 'softmax', attributes: { axis: -1 } }),
    ];
    const made = () => {
      const model = convAnd(nodes.map((node) => ({ ...node })));
      const mask = Float32Array.of(0, Number.NEGATIVE_INFINITY, 0);
      model.graph.put(makeTensor('mask', 'float', [3], mask));
      return model;
    };
    const samples = [sampleOf('x', [1, 2, 3, 3], 1)];
    const { model, report } = await quantized(made, samples);
    expect(report.kept).toEqual([
      { what: 'mask', why: 'it contains values that are not finite' },
      { what: 'masked', why: 'its range is unknown, or too wide for 8 bits, like the range of a mask' },
    ]);
    const error = relativeError(await runOptimized(model, samples), await runOptimized(made(), samples));
    expect(error).toBeLessThan(0.02);
  });

  test('bodies of control flow, and what they take from outside', async () => {
    const made = () => {
      const body = create(GraphProtoSchema, {
        name: 'body',
        node: [makeNode('MatMul', ['a', 'w'], ['inner'])],
        output: [valueInfoOf({ name: 'inner', type: 'float', dims: [2, 2] })],
      });
      const choose = makeNode('If', ['yes'], ['y'], { name: 'choose' });
      choose.attribute = ['then_branch', 'else_branch'].map((name) =>
        create(AttributeProtoSchema, { name, type: AttributeProto_AttributeType.GRAPH, g: body }),
      );
      return smallModel({
        nodes: [makeNode('MatMul', ['x', 'w'], ['a'], { name: 'outer' }), choose],
        constants: [
          makeTensor('w', 'float', [2, 2], Float32Array.of(1, 2, 3, 4)),
          makeTensor('yes', 'bool', [], Uint8Array.of(1)),
        ],
        inputs: { x: [2, 2] },
        outputs: { y: [2, 2] },
      });
    };
    const samples = [sampleOf('x', [2, 2], 1)];
    const { model, report } = await quantized(made, samples);
    expect(report.kept).toContainEqual({ what: 'choose', why: 'bodies of control flow are not calibrated' });
    const error = relativeError(await runOptimized(model, samples), await runOptimized(made(), samples));
    expect(error).toBeLessThan(0.02);
  });
});

test('ranges are needed for what is quantized at a scale of its own', () => {
  const model = convolutional(13);
  prepareStatic(model, request);
  expect(calibrationTargets(model, request)).toEqual([
    'x',
    'a.out',
    'b.out',
    'c.norm',
    'sum.out',
    'd',
    'e',
    'both',
    'y',
  ]);
  expect(calibrationTargets(model, { ...request, leaf_node: true, exclude: ['Conv'] })).toEqual([
    'flat',
    'y',
  ]);
});

describe('refusals', () => {
  test('a model without anything to quantize', () => {
    const exclude = ['Conv', 'Gemm', 'Add', 'Concat'];
    expect(() => withRanges(convolutional(13), new Map(), { exclude })).toThrow(
      /^Static methods have nothing to quantize/,
    );
  });

  test('a model whose weights are in half precision, with the methods that take them', () => {
    const half = smallModel({
      inputs: { x: [1, 8] },
      outputs: { y: [1, 5] },
      constants: [makeTensor('w', 'float16', [8, 5], new Float16Array(40).fill(1))],
      nodes: [
        makeNode('Cast', ['x'], ['h'], { attributes: { to: 10 } }),
        makeNode('MatMul', ['h', 'w'], ['p']),
        makeNode('Cast', ['p'], ['y'], { attributes: { to: 1 } }),
      ],
    });
    expect(() => withRanges(half, new Map())).toThrow(
      'Its weights are float16. dynamic and the methods in blocks take half precision.',
    );
  });
});
