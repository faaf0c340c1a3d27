import { describe, expect, test } from 'vitest';
import { applyStrategy } from '../../../../../shared/onnx/methods/apply/apply-strategy.ts';
import { calibrationTargets } from '../../../../../shared/onnx/methods/apply/calibration-targets.ts';
import { parseRequest } from '../../../../../shared/onnx/methods/apply/parse-request.ts';
import { wantedStatistics } from '../../../../../shared/onnx/methods/apply/wanted-statistics.ts';
import { quantizeWeightOnly } from '../../../../../shared/onnx/methods/quantize/blocks/weight-only.ts';
import { foldWidened } from '../../../../../shared/onnx/methods/quantize/fold-widened.ts';
import type { StaticRequest } from '../../../../../shared/onnx/methods/quantize/static/static-operators.ts';
import { alreadyQuantized } from '../../../../../shared/onnx/methods/report/already-quantized.ts';
import { TransformReport } from '../../../../../shared/onnx/methods/report/report.ts';
import type { Model } from '../../../../../shared/onnx/model/file/model.ts';
import { makeNode } from '../../../../../shared/onnx/model/graph/graph.ts';
import type { NodeProto } from '../../../../../shared/onnx/model/proto/onnx_pb.js';
import { makeInt64s, makeTensor, type Tensor } from '../../../../../shared/onnx/model/tensor/tensor.ts';
import { seededFloats } from '../../../../support/onnx/seeded.ts';
import {
  copyOf,
  relativeError,
  runSmall,
  savedBytes,
  smallModel,
} from '../../../../support/onnx/small-model.ts';
import { seededRandom } from '../../../../support/seeded-random.ts';

const [rows, columns] = [64, 32];
const floats = seededFloats(seededRandom(1), rows * columns);
const bytes = Int8Array.from(floats, (value) => Math.max(-127, Math.min(127, Math.round(value * 40))));
const scale = (dims: readonly number[]) =>
  makeTensor(
    's',
    'float',
    dims,
    seededFloats(
      seededRandom(2),
      dims.reduce((a, b) => a * b, 1),
    ).map(Math.abs),
  );

/** A product of [2, 64] with the weight that a node makes of `a`. */
const product = (widen: NodeProto, constants: readonly Tensor[], ...more: readonly NodeProto[]): Model =>
  smallModel({
    nodes: [structuredClone(widen), ...structuredClone(more), makeNode('MatMul', ['x', 'w'], ['y'])],
    constants,
    inputs: { x: [2, rows] },
    outputs: { y: [2, columns] },
    opset: 21,
  });

const x = { dims: [2, rows], data: seededFloats(seededRandom(3), 2 * rows) };
const cast = makeNode('Cast', ['a'], ['w'], { attributes: { to: 1 } });
const dequantize = (attributes: Record<string, number>, ...zero: string[]) =>
  makeNode('DequantizeLinear', ['a', 's', ...zero], ['w'], { attributes });
const half = makeTensor('a', 'float16', [rows, columns], new Float16Array(floats));
const brain = makeTensor(
  'a',
  'bfloat16',
  [rows, columns],
  new Uint16Array(floats.buffer).filter((_, at) => at % 2 === 1),
);
const int8 = makeTensor('a', 'int8', [rows, columns], bytes);
const uint8 = makeTensor(
  'a',
  'uint8',
  [rows, columns],
  Uint8Array.from(bytes, (level) => level + 128),
);
const int4 = makeTensor(
  'a',
  'int4',
  [rows, columns],
  new Uint8Array(bytes.buffer.slice(0, (rows * columns) / 2)),
);
const double = makeTensor('a', 'double', [rows, columns], Float64Array.from(floats));
const zeros = makeTensor('z', 'uint8', [columns], new Uint8Array(columns).fill(128));

const forms: readonly (readonly [string, NodeProto, readonly Tensor[]])[] = [
  ['half precision', cast, [half]],
  ['bfloat16', cast, [brain]],
  ['double precision', cast, [double]],
  ['int8 with one scale', dequantize({}), [int8, scale([])]],
  ['int8 with a scale for each row', dequantize({ axis: 0 }), [int8, scale([rows])]],
  ['uint8 with zero points', dequantize({ axis: -1 }, 'z'), [uint8, scale([columns]), zeros]],
  ['int4 in blocks', dequantize({ axis: 0, block_size: 16 }), [int4, scale([rows / 16, columns])]],
];

describe('a weight that is stored in another type', () => {
  test.each(forms)('becomes a float32 constant of the same values: %s', async (_, widen, constants) => {
    const before = await runSmall(product(widen, constants), { x });
    const model = product(widen, constants);

    foldWidened(model.graph, [], ['MatMul']);

    const after = await runSmall(model, { x });
    expect(model.graph.nodes.map(({ opType }) => opType)).toEqual(['MatMul']);
    expect(relativeError(after['y']?.data ?? [], before['y']?.data ?? [])).toBeLessThan(1e-6);
  });

  test('goes into blocks', async () => {
    const before = await runSmall(product(cast, [half]), { x });
    const model = product(cast, [half]);

    quantizeWeightOnly(model, { precision: 8, quant_type: 'int8', exclude: [] }, new TransformReport());

    const after = await runSmall(model, { x });
    expect(model.graph.nodes.map(({ opType }) => opType)).toEqual(['MatMulNBits']);
    expect(relativeError(after['y']?.data ?? [], before['y']?.data ?? [])).toBeLessThan(0.02);
  });

  test('goes into blocks if nodes give it two dimensions first', async () => {
    const cube = { ...half, dims: [4, rows / 4, columns] };
    const made = () =>
      smallModel({
        nodes: [
          makeNode('Cast', ['a'], ['c'], { attributes: { to: 1 } }),
          makeNode('Reshape', ['c', 'shape'], ['w']),
          makeNode('MatMul', ['x', 'w'], ['y']),
        ],
        constants: [cube, makeInt64s('shape', [rows, columns])],
        inputs: { x: [2, rows] },
        outputs: { y: [2, columns] },
      });
    const before = await runSmall(made(), { x });
    const model = made();

    quantizeWeightOnly(model, { precision: 8, quant_type: 'int8', exclude: [] }, new TransformReport());

    const after = await runSmall(model, { x });
    expect(model.graph.nodes.map(({ opType }) => opType)).toEqual(['MatMulNBits']);
    expect(relativeError(after['y']?.data ?? [], before['y']?.data ?? [])).toBeLessThan(0.02);
  });

  test.each([
    ['Cast', cast, [half]],
    ['DequantizeLinear', dequantize({ axis: 0 }), [int8, scale([rows])]],
  ] as const)('becomes a constant if other nodes move it before its %s', async (_, widen, constants) => {
    const made = () => {
      const model = product({ ...structuredClone(widen), input: ['m', ...widen.input.slice(1)] }, [
        ...constants,
        makeInt64s('shape', [columns, -1]),
      ]);
      model.graph.nodes = [
        makeNode('Reshape', ['a', 'shape'], ['r']),
        makeNode('Transpose', ['r'], ['m'], { attributes: { perm: [1, 0] } }),
        ...model.graph.nodes,
      ];
      return model;
    };
    const before = await runSmall(made(), { x });
    const model = made();

    quantizeWeightOnly(model, { precision: 8, quant_type: 'int8', exclude: [] }, new TransformReport());

    const after = await runSmall(model, { x });
    expect(model.graph.nodes.map(({ opType }) => opType)).toEqual(['MatMulNBits']);
    expect(relativeError(after['y']?.data ?? [], before['y']?.data ?? [])).toBeLessThan(0.02);
  });

  test('is stored once if a lookup and a product cast what they read of it', async () => {
    const made = () =>
      smallModel({
        nodes: [
          makeNode('ArgMax', ['x'], ['i'], { attributes: { axis: 1, keepdims: 0 } }),
          makeNode('Gather', ['a', 'i'], ['looked']),
          makeNode('Cast', ['looked'], ['l'], { attributes: { to: 1 } }),
          makeNode('Transpose', ['a'], ['turned'], { attributes: { perm: [1, 0] } }),
          makeNode('Cast', ['turned'], ['w'], { attributes: { to: 1 } }),
          makeNode('MatMul', ['l', 'w'], ['y']),
        ],
        constants: [half],
        inputs: { x: [2, rows] },
        outputs: { y: [2, rows] },
      });
    const before = await runSmall(made(), { x });
    const [blocks, dynamic] = [made(), made()];

    quantizeWeightOnly(blocks, { precision: 8, quant_type: 'int8', exclude: [] }, new TransformReport());
    applyStrategy(
      {
        ...{ model: dynamic, report: new TransformReport() },
        observed: { ranges: new Map(), statistics: new Map() },
      },
      parseRequest({ operation: 'quantize', strategy: 'dynamic', precision: 8 }),
    );

    for (const model of [blocks, dynamic]) {
      const after = await runSmall(model, { x });
      expect(savedBytes(model).length).toBeLessThan(1.8 * rows * columns);
      expect(relativeError(after['y']?.data ?? [], before['y']?.data ?? [])).toBeLessThan(0.03);
    }
  });

  test('is stored in half precision if each run casts it for that', () => {
    const model = product(makeNode('Cast', ['a'], ['w'], { attributes: { to: 10 } }), [
      makeTensor('a', 'float', [rows, columns], floats),
    ]);

    foldWidened(model.graph, [], ['MatMul']);

    expect(model.graph.nodes.map(({ opType }) => opType)).toEqual(['MatMul']);
    expect(model.graph.initializer('w')?.type).toBe('float16');
  });

  test('stays in its narrow type where blocks have no form for it', () => {
    // The rows of this table are no multiple of a block, so it would only become four times as large.
    const table = makeTensor('a', 'int8', [rows, 20], bytes.subarray(0, rows * 20));
    const model = smallModel({
      nodes: [dequantize({}), makeNode('Gather', ['w', 'i'], ['t']), makeNode('MatMul', ['x', 'm'], ['y'])],
      constants: [table, scale([]), makeInt64s('i', [1]), makeTensor('m', 'float', [rows, columns], floats)],
      inputs: { x: [2, rows] },
      outputs: { y: [2, columns], t: [1, 20] },
      opset: 21,
    });

    quantizeWeightOnly(model, { precision: 8, quant_type: 'int8', exclude: [] }, new TransformReport());

    expect(model.graph.nodes.map(({ opType }) => opType)).toContain('DequantizeLinear');
    expect(model.graph.initializer('a')?.type).toBe('int8');
  });

  test('stays where others than weights use it, or the model has quantized activations', () => {
    const used = product(cast, [half], makeNode('Relu', ['w'], ['r']));
    const quantized = product(
      dequantize({}),
      [int8, scale([])],
      makeNode('DynamicQuantizeLinear', ['x'], ['q', 'qs', 'qz']),
    );

    for (const model of [used, quantized]) foldWidened(model.graph, [], ['MatMul']);

    expect(used.graph.nodes.map(({ opType }) => opType)).toContain('Cast');
    expect(quantized.graph.nodes.map(({ opType }) => opType)).toContain('DequantizeLinear');
    expect(alreadyQuantized(quantized.graph)).toBe(
      ' The model is already quantized: it has 1 DequantizeLinear, 1 DynamicQuantizeLinear.',
    );
    expect(alreadyQuantized(used.graph)).toBe('');
  });
});

test.each([
  { strategy: 'static_minmax', precision: 8 },
  { strategy: 'gptq', precision: 4 },
] as const)('$strategy says before it observes a model that this has its weights quantized', (asked) => {
  const model = product(
    dequantize({}),
    [int8, scale([])],
    makeNode('DynamicQuantizeLinear', ['x'], ['q', 'qs', 'qz']),
  );
  const request = parseRequest({ operation: 'quantize', ...asked });
  const observe = () =>
    asked.strategy === 'gptq'
      ? wantedStatistics(model, request)
      : calibrationTargets(model, request as StaticRequest);

  expect(observe).toThrow('already quantized: it has 1 DequantizeLinear, 1 DynamicQuantizeLinear');
});

test("a model that names the domain of ONNX's operators in full is quantized", () => {
  const model = product(makeNode('Cast', ['a'], ['w'], { domain: 'ai.onnx', attributes: { to: 1 } }), [half]);
  for (const opset of model.proto.opsetImport) opset.domain = 'ai.onnx';
  const loaded = copyOf(model);

  quantizeWeightOnly(loaded, { precision: 8, quant_type: 'int8', exclude: [] }, new TransformReport());

  expect(loaded.graph.nodes.map(({ opType }) => opType)).toEqual(['MatMulNBits']);
  expect(loaded.proto.opsetImport.map(({ domain }) => domain)).toEqual(['', 'com.microsoft']);
});
