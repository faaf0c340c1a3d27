import { describe, expect, test } from 'vitest';
import { convertToFloat16 } from '../../../../../shared/onnx/methods/quantize/half/float16.ts';
import { TransformReport } from '../../../../../shared/onnx/methods/report/report.ts';
import { makeNode } from '../../../../../shared/onnx/model/graph/graph.ts';
import type { NodeProto } from '../../../../../shared/onnx/model/proto/onnx_pb.js';
import { makeInt64s, makeTensor } from '../../../../../shared/onnx/model/tensor/tensor.ts';
import { seededFloats } from '../../../../support/onnx/seeded.ts';
import { copyOf, relativeError, runSmall, smallModel } from '../../../../support/onnx/small-model.ts';
import { seededRandom } from '../../../../support/seeded-random.ts';
import { axes, guarded, guards, rows, scalar } from './guarded-graph.ts';

describe('a constant that half precision does not have', () => {
  test.each(Object.keys(guards))('keeps the values of %s alive', async (name) => {
    const guard = guards[name];
    if (guard === undefined) throw new Error('no such guard');
    const feeds = { x: { dims: [8, 16], data: rows } };
    const model = copyOf(guarded(guard));
    convertToFloat16(model, { exclude: [] }, new TransformReport());
    const saved = copyOf(model);
    const [before, after] = [await runSmall(guarded(guard), feeds), await runSmall(saved, feeds)];
    expect(after['y']?.data.every((value) => Number.isFinite(value))).toBe(true);
    expect(relativeError(after['y']?.data ?? [], before['y']?.data ?? [])).toBeLessThan(4e-3);
    expect(saved.graph.initializers.get('w_float16')?.type).toBe('float16');
  });

  test('is one that stands for infinity in a mask, where every row stays finite', async () => {
    const make = () =>
      smallModel({
        nodes: [
          makeNode('MatMul', ['x', 'w'], ['s']),
          makeNode('Mul', ['mask', 'least'], ['hidden']),
          makeNode('Add', ['s', 'hidden'], ['a']),
          makeNode('Softmax', ['a'], ['y']),
        ],
        constants: [
          makeTensor('w', 'float', [16, 16], seededFloats(seededRandom(6), 256, 30)),
          scalar('least', -3.4028234663852886e38),
        ],
        inputs: { x: [8, 16], mask: [8, 16] },
        outputs: { y: [8, 16] },
      });
    const mask = Float32Array.from(rows, (_, at) => Number(at % 3 === 0));
    const feeds = { x: { dims: [8, 16], data: rows }, mask: { dims: [8, 16], data: mask } };
    const model = make();
    const report = new TransformReport();
    convertToFloat16(model, { exclude: [] }, report);
    const [before, after] = [await runSmall(make(), feeds), await runSmall(copyOf(model), feeds)];
    expect(report.kept).toEqual([]);
    expect(relativeError(after['y']?.data ?? [], before['y']?.data ?? [])).toBeLessThan(0.03);
  });
});

const dims = [1, 4, 8, 8];
const grid = makeTensor('g', 'float', [1, 8, 8, 2], seededFloats(seededRandom(2), 128));
const indices = makeTensor(
  'i',
  'int64',
  dims,
  BigInt64Array.from({ length: 256 }, (_, at) => BigInt((at * 3) % 8)),
);

/** Operators between `x` and `t` of the same shape, whose types only their schemas tell. */
const untold: Record<string, NodeProto[]> = {
  ScatterElements: [makeNode('ScatterElements', ['x', 'i', 'u'], ['t'], { attributes: { axis: 3 } })],
  TopK: [makeNode('TopK', ['x', 'k'], ['t', 'at'], { attributes: { axis: 3 } })],
  GridSample: [makeNode('GridSample', ['x', 'g'], ['t'])],
  Compress: [makeNode('Compress', ['x', 'c'], ['t'], { attributes: { axis: 1 } })],
  OneHot: [
    makeNode('ArgMax', ['x'], ['m'], { attributes: { axis: 3, keepdims: 0 } }),
    makeNode('OneHot', ['m', 'k', 'v'], ['t']),
  ],
  ReverseSequence: [
    makeNode('ReverseSequence', ['x', 'four'], ['t'], { attributes: { batch_axis: 0, time_axis: 1 } }),
  ],
  'SequenceAt of a sequence': [
    makeNode('SequenceConstruct', ['x', 'x'], ['s']),
    makeNode('SequenceAt', ['s', 'zero'], ['t']),
  ],
};

test.each(Object.keys(untold))('%s goes to half precision or stays, and the model loads', async (name) => {
  const nodes = untold[name] ?? [];
  const make = () =>
    smallModel({
      nodes: [
        makeNode('Conv', ['in', 'w'], ['x'], { attributes: { pads: [1, 1, 1, 1] } }),
        ...nodes,
        makeNode('Unsqueeze', ['t', 'zeros'], ['tu']),
        makeNode('Squeeze', ['tu', 'zeros'], ['tq']),
        makeNode('Conv', ['tq', 'w2'], ['y']),
      ],
      constants: [
        makeTensor('w', 'float', [4, 3, 3, 3], seededFloats(seededRandom(6), 108)),
        makeTensor('w2', 'float', [5, 4, 3, 3], seededFloats(seededRandom(7), 180)),
        makeTensor('u', 'float', dims, seededFloats(seededRandom(8), 256)),
        makeTensor('v', 'float', [2], Float32Array.of(0, 1)),
        makeTensor('c', 'bool', [4], Uint8Array.of(1, 1, 1, 1)),
        makeTensor('zero', 'int64', [], BigInt64Array.of(0n)),
        ...[grid, indices, makeInt64s('k', [8]), makeInt64s('four', [4]), makeInt64s('zeros', [0])],
      ].filter(
        ({ name: one }) => /^(w|w2|zeros)$/.test(one) || nodes.some(({ input }) => input.includes(one)),
      ),
      inputs: { in: [1, 3, 8, 8] },
      outputs: { y: ['a', 'b', 'c', 'd'] },
    });
  const feeds = { in: { dims: [1, 3, 8, 8], data: seededFloats(seededRandom(9), 192) } };
  const before = await runSmall(make(), feeds);
  const model = copyOf(make());
  convertToFloat16(model, { exclude: [] }, new TransformReport());
  const saved = copyOf(model);
  const after = await runSmall(saved, feeds);
  expect(relativeError(after['y']?.data ?? [], before['y']?.data ?? [])).toBeLessThan(0.02);
  expect(saved.graph.initializers.get('w2_float16')?.type).toBe('float16');
});

describe('a product of weights that half precision hardly has', () => {
  /** x → weights of this size → scaled back → a layer of common size. */
  const faint = (scale: number, nodes: NodeProto[]) =>
    smallModel({
      nodes: [...nodes, makeNode('MatMul', ['n', 'w'], ['y'], { name: 'common' })],
      constants: [
        makeTensor('small', 'float', [16, 16], seededFloats(seededRandom(7), 256, scale)),
        makeTensor('b', 'float', [16], seededFloats(seededRandom(8), 16)),
        makeTensor('w', 'float', [16, 16], seededFloats(seededRandom(6), 256)),
        scalar('up', 1 / scale),
      ].filter(({ name }) => name === 'w' || nodes.some(({ input }) => input.includes(name))),
      inputs: { x: [8, 16] },
      outputs: { y: [8, 16] },
    });
  const product = makeNode('MatMul', ['x', 'small'], ['s'], { name: 'faint' });
  const forms: Record<string, NodeProto[]> = {
    'scaled by a constant': [product, makeNode('Mul', ['s', 'up'], ['n'])],
    'with a norm behind it': [
      product,
      makeNode('Relu', ['s'], ['r']),
      makeNode('ReduceMax', ['r'], ['m'], axes),
      makeNode('Div', ['r', 'm'], ['n']),
    ],
    'with a bias of common size': [product, makeNode('Add', ['s', 'b'], ['n'])],
  };

  test.each(Object.keys(forms).flatMap((form) => [1e-8, 1e-7, 1e-6, 1e-5].map((scale) => ({ form, scale }))))(
    'of $scale, $form, keeps its answers',
    async ({ form, scale }) => {
      const made = () => copyOf(faint(scale, forms[form] ?? []));
      const feeds = { x: { dims: [8, 16], data: seededFloats(seededRandom(5), 128) } };
      const model = made();
      const report = new TransformReport();
      convertToFloat16(model, { exclude: [] }, report);
      const saved = copyOf(model);
      const [before, after] = [await runSmall(made(), feeds), await runSmall(saved, feeds)];
      expect(relativeError(after['y']?.data ?? [], before['y']?.data ?? [])).toBeLessThan(4e-3);
      expect(saved.graph.initializers.get('small')?.type).toBe('float');
      expect(saved.graph.initializers.get('w_float16')?.type).toBe('float16');
      expect(report.kept).toContainEqual({
        what: 'faint',
        why: 'its weights are so small that half precision keeps few of their digits',
      });
    },
  );

  test('is only that whose every weight is so small', () => {
    const model = faint(1e-4, [makeNode('MatMul', ['x', 'small'], ['n'])]);
    convertToFloat16(model, { exclude: [] }, new TransformReport());
    expect(model.graph.initializers.get('small_float16')?.type).toBe('float16');
  });
});

test('a value that calibration saw beyond half precision stays in float32, with what makes and takes it', async () => {
  const made = () =>
    smallModel({
      nodes: [
        makeNode('MatMul', ['x', 'w'], ['a'], { name: 'first' }),
        makeNode('Mul', ['a', 'a'], ['large'], { name: 'square' }),
        makeNode('Sqrt', ['large'], ['n'], { name: 'root' }),
        makeNode('MatMul', ['n', 'w'], ['y'], { name: 'last' }),
      ],
      constants: [makeTensor('w', 'float', [16, 16], seededFloats(seededRandom(6), 256))],
      inputs: { x: [8, 16] },
      outputs: { y: [8, 16] },
    });
  const feeds = { x: { dims: [8, 16], data: seededFloats(seededRandom(5), 128, 1000) } };
  const ranges = new Map([
    ['a', { min: -2500, max: 2500 }],
    ['large', { min: 0, max: 6_250_000 }],
    ['n', { min: 0, max: 2500 }],
  ]);
  const convert = (observed?: typeof ranges) => {
    const model = copyOf(made());
    const report = new TransformReport();
    convertToFloat16(model, { exclude: [] }, report, observed);
    return { model: copyOf(model), kept: report.kept.map(({ what }) => what) };
  };
  const { model, kept } = convert(ranges);
  expect(kept).toEqual(['square', 'root']);
  const [before, after] = [await runSmall(made(), feeds), await runSmall(model, feeds)];
  expect(relativeError(after['y']?.data ?? [], before['y']?.data ?? [])).toBeLessThan(4e-3);
  // ONNX Runtime's CPU kernels hold such a value in float32 between two casts; those of GPUs do not.
  expect(convert().kept).toEqual([]);
});
