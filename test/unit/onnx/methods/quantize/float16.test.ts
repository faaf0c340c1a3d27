import { create } from '@bufbuild/protobuf';
import { describe, expect, test } from 'vitest';
import { convertToFloat16 } from '../../../../../shared/onnx/methods/quantize/half/float16.ts';
import { TransformReport } from '../../../../../shared/onnx/methods/report/report.ts';
import { makeNode } from '../../../../../shared/onnx/model/graph/graph.ts';
import { valueInfoOf } from '../../../../../shared/onnx/model/graph/value-info.ts';
import {
  AttributeProto_AttributeType,
  AttributeProtoSchema,
  GraphProtoSchema,
} from '../../../../../shared/onnx/model/proto/onnx_pb.js';
import { makeInt64s, makeTensor } from '../../../../../shared/onnx/model/tensor/tensor.ts';
import { fusedTransformer } from '../../../../support/onnx/fused-network.ts';
import { runOptimized } from '../../../../support/onnx/run-optimized.ts';
import { seededFloats } from '../../../../support/onnx/seeded.ts';
import { copyOf, relativeError, runSmall, smallModel } from '../../../../support/onnx/small-model.ts';
import { seededRandom } from '../../../../support/seeded-random.ts';

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

  test('store a constant once that one node needs in float32', async () => {
    const shared = () =>
      smallModel({
        nodes: [
          makeNode('MatMul', ['x', 'w'], ['a'], { name: 'exact' }),
          makeNode('MatMul', ['x', 'w'], ['b'], { name: 'coarse' }),
          makeNode('MatMul', ['b', 'v'], ['c'], { name: 'last' }),
          makeNode('Add', ['a', 'c'], ['y'], { name: 'sum' }),
        ],
        constants: ['w', 'v'].map((name, at) =>
          makeTensor(name, 'float', [16, 16], seededFloats(seededRandom(8 + at), 256, 0.2)),
        ),
        inputs: { x: [2, 16] },
        outputs: { y: [2, 16] },
      });
    const before = await runSmall(shared(), fed);
    const model = shared();
    const report = new TransformReport();

    convertToFloat16(model, { exclude: ['exact'] }, report);

    const saved = copyOf(model);
    const after = await runSmall(saved, fed);
    expect(relativeError(after['y']?.data ?? [], before['y']?.data ?? [])).toBeLessThan(2e-3);
    expect([...saved.graph.initializers.keys()].sort()).toEqual(['v_float16', 'w']);
    expect(report.layers.map(({ weight }) => weight)).toEqual(['v']);
  });

  test('products with weights beyond its range stay in float32', () => {
    const weight = (name: string, size: number) =>
      makeTensor(
        name,
        'float',
        [16, 16],
        Float32Array.from({ length: 256 }, (_, at) => at * size),
      );
    const model = smallModel({
      nodes: [
        makeNode('MatMul', ['x', 'v'], ['h']),
        makeNode('MatMul', ['h', 'w'], ['y'], { name: 'large' }),
      ],
      constants: [weight('v', 1e-3), weight('w', 1e4)],
      inputs: { x: [2, 16] },
      outputs: { y: [2, 16] },
    });
    const report = new TransformReport();
    convertToFloat16(model, { exclude: [] }, report);
    copyOf(model);
    expect(report.warnings).toEqual([]);
    expect(report.kept.map(({ what }) => what)).toEqual(['large']);
  });

  test('factors beyond its range stay in float32, and so does what they make', async () => {
    const before = await runSmall(make(1e6), fed);
    const model = make(1e6);
    const report = new TransformReport();
    convertToFloat16(model, { exclude: [] }, report);
    const after = await runSmall(copyOf(model), fed);
    expect(relativeError(after['z']?.data ?? [], before['z']?.data ?? [])).toBeLessThan(2e-3);
    expect(report.kept.map(({ what }) => what)).toEqual(['growth', 'scaled', 'last']);
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

  test.each(['add', 'max'])('a scatter that reduces by %s stays in float32', async (reduction) => {
    const scattering = () =>
      smallModel({
        nodes: [
          makeNode('MatMul', ['x', 'w'], ['a'], { name: 'product' }),
          makeNode('ScatterElements', ['a', 'at', 'a'], ['b'], { name: 'sum', attributes: { reduction } }),
          makeNode('Unsqueeze', ['places', 'last'], ['p']),
          makeNode('ScatterND', ['b', 'p', 'b'], ['c'], { name: 'rows', attributes: { reduction } }),
          makeNode('MatMul', ['c', 'w'], ['y'], { name: 'second' }),
        ],
        constants: [
          makeTensor('w', 'float', [16, 16], seededFloats(seededRandom(6), 256, 0.2)),
          makeTensor('at', 'int64', [2, 16], new BigInt64Array(32)),
          makeInt64s('places', [1, 1]),
          makeInt64s('last', [1]),
        ],
        inputs: { x: [2, 16] },
        outputs: { y: [2, 16] },
        opset: 18,
      });
    const model = scattering();
    const report = new TransformReport();

    convertToFloat16(model, { exclude: [] }, report);

    expect(report.kept.map(({ what }) => what)).toEqual(['sum', 'rows']);
    const [after, before] = [await runSmall(model, fed), await runSmall(scattering(), fed)];
    expect(relativeError(after['y']?.data ?? [], before['y']?.data ?? [])).toBeLessThan(2e-3);
  });

  test('a weight that is also an output is stored once, in float32', async () => {
    const model = make();
    model.graph.outputs.push(valueInfoOf({ name: 'w', type: 'float', dims: [16, 16] }));
    const before = await runSmall(copyOf(model), fed);

    convertToFloat16(model, { exclude: [] }, new TransformReport());

    const matrices = [...model.graph.initializers.values()].filter(({ dims }) => dims.length === 2);
    expect(matrices.map(({ name, type }) => [name, type])).toEqual([['w', 'float']]);
    const after = await runSmall(copyOf(model), fed);
    expect(after['w']).toEqual(before['w']);
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

  test('bodies of control flow are converted, with weights of the graph around them', async () => {
    const made = () => {
      const body = (name: string, weight: string) =>
        create(GraphProtoSchema, {
          name,
          node: [makeNode('MatMul', ['x', weight], [`${name}_y`], { name: `${name}_product` })],
          output: [valueInfoOf({ name: `${name}_y`, type: 'float', dims: [2, 16] })],
        });
      const choose = makeNode('If', ['positive'], ['y'], { name: 'choose' });
      choose.attribute = [
        ['then_branch', body('then', 'w')] as const,
        ['else_branch', body('else', 'v')] as const,
      ].map(([name, g]) =>
        create(AttributeProtoSchema, { name, type: AttributeProto_AttributeType.GRAPH, g }),
      );
      return smallModel({
        nodes: [
          makeNode('ReduceSum', ['x'], ['sum'], { attributes: { keepdims: 0 } }),
          makeNode('Greater', ['sum', 'zero'], ['positive']),
          choose,
        ],
        constants: [
          makeTensor('w', 'float', [16, 16], seededFloats(seededRandom(6), 256)),
          makeTensor('v', 'float', [16, 16], seededFloats(seededRandom(7), 256)),
          makeTensor('zero', 'float', [], Float32Array.of(0)),
        ],
        inputs: { x: [2, 16] },
        outputs: { y: [2, 16] },
      });
    };
    const model = made();
    convertToFloat16(model, { exclude: [] }, new TransformReport());
    const saved = copyOf(model);
    expect([...saved.graph.initializers.values()].filter(({ dims }) => dims.length > 0)).toMatchObject([
      { name: 'w_float16', type: 'float16' },
      { name: 'v_float16', type: 'float16' },
    ]);
    for (const sign of [1, -1]) {
      const feeds = { x: { dims: [2, 16], data: fed.x.data.map((value) => sign * value) } };
      const [after, before] = [await runSmall(saved, feeds), await runSmall(made(), feeds)];
      expect(relativeError(after['y']?.data ?? [], before['y']?.data ?? [])).toBeLessThan(2e-3);
    }
  });
});
