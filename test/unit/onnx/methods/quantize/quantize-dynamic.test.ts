import { create } from '@bufbuild/protobuf';
import { describe, expect, test } from 'vitest';
import { countParameters } from '../../../../../shared/onnx/measure/verify/count-parameters.ts';
import type { DynamicRequest } from '../../../../../shared/onnx/methods/quantize/dynamic/dynamic-graph.ts';
import { quantizeDynamic } from '../../../../../shared/onnx/methods/quantize/dynamic/quantize-dynamic.ts';
import { TransformReport } from '../../../../../shared/onnx/methods/report/report.ts';
import { type Model, microsoft } from '../../../../../shared/onnx/model/file/model.ts';
import { makeNode } from '../../../../../shared/onnx/model/graph/graph.ts';
import { valueInfoOf } from '../../../../../shared/onnx/model/graph/value-info.ts';
import {
  AttributeProto_AttributeType,
  AttributeProtoSchema,
  GraphProtoSchema,
} from '../../../../../shared/onnx/model/proto/onnx_pb.js';
import { makeTensor } from '../../../../../shared/onnx/model/tensor/tensor.ts';
import { floatsOf } from '../../../../../shared/onnx/model/tensor/values.ts';
import {
  convolutional,
  depthwise,
  recurrent,
  transformer,
} from '../../../../support/onnx/quantizable-networks.ts';
import { type Floats, runOptimized, sampleOf } from '../../../../support/onnx/run-optimized.ts';
import { seededFloats } from '../../../../support/onnx/seeded.ts';
import { copyOf, relativeError, smallModel } from '../../../../support/onnx/small-model.ts';
import { seededRandom } from '../../../../support/seeded-random.ts';

const request: DynamicRequest = {
  quant_type: 'int8',
  per_channel: false,
  reduce_range: false,
  leaf_node: false,
  exclude: [],
  include: [],
  smooth_alpha: null,
  equalize: false,
  bias_correction: false,
};

function quantized(model: Model, changes: Partial<DynamicRequest> = {}) {
  const report = new TransformReport();
  quantizeDynamic(model, { ...request, ...changes }, report);
  return { model: copyOf(model), report };
}

const operators = ({ graph }: Model): string[] => graph.nodes.map(({ opType }) => opType);
const countOf = (model: Model, operator: string): number =>
  operators(model).filter((one) => one === operator).length;

async function errorOf(
  made: () => Model,
  samples: readonly Record<string, Floats>[],
  changes: Partial<DynamicRequest> = {},
): Promise<number> {
  const { model } = quantized(made(), changes);
  return relativeError(await runOptimized(model, samples), await runOptimized(made(), samples));
}

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

describe('whole networks answer nearly the same', () => {
  const images = [sampleOf('x', [2, 8, 6, 6], 7)];
  const tokens = [sampleOf('x', [2, 4, 16], 7)];
  const steps = [sampleOf('x', [5, 2, 6], 7)];

  test.each([
    {},
    { quant_type: 'uint8' },
    { per_channel: true },
    { quant_type: 'uint8', per_channel: true, reduce_range: true },
  ] as const)('a transformer and a recurrent network with %o', async (changes) => {
    expect(await errorOf(() => transformer(17), tokens, changes)).toBeLessThan(0.05);
    expect(await errorOf(() => recurrent(14), steps, changes)).toBeLessThan(0.08);
  });

  test.each([11, 13, 17])('convolutions of opset %d, when included, depthwise ones too', async (opset) => {
    const changes = { include: ['Conv' as const] };
    expect(await errorOf(() => convolutional(opset), images, changes)).toBeLessThan(0.1);
    expect(await errorOf(() => depthwise(opset), images, changes)).toBeLessThan(0.1);
  });
});

describe('products', () => {
  test('an activation is quantized once for all products, a weight once for all its users', () => {
    const { model, report } = quantized(transformer(17));
    // q and k take the same input.
    expect(countOf(model, 'MatMulInteger')).toBe(5);
    expect(countOf(model, 'DynamicQuantizeLinear')).toBe(4);
    expect(report.layers.map(({ weight }) => weight)).toEqual(['q.w', 'k.w', 'o.w', 'f.w', 'g.w']);
    expect(report.layers.every(({ error }) => error !== null && error > 0 && error < 0.02)).toBe(true);
    expect(report.kept).toEqual([
      { what: 'qk_node', why: 'its weight is computed by Transpose while the model runs' },
      { what: 'attended_node', why: 'its weight is computed by Transpose while the model runs' },
    ]);
    expect([...model.graph.initializers.keys()].filter((name) => name.endsWith('.w'))).toEqual([]);
  });

  const gemm = (attributes: Record<string, number | { float: number }>, dims: readonly number[]) => () =>
    smallModel({
      nodes: [makeNode('Gemm', ['x', 'w', 'c'], ['y'], { name: 'gemm', attributes })],
      constants: [constant('w', dims, 1), constant('c', [1, 3], 2)],
      inputs: { x: [6, 6] },
      outputs: { y: [6, 3] },
    });

  test.each([
    [{}, [6, 3]],
    [{ transB: 1 }, [3, 6]],
    [{ transA: 1, alpha: { float: 0.5 } }, [6, 3]],
    [{ transB: 1, alpha: { float: -2 }, beta: { float: 3 } }, [3, 6]],
  ] as const)('Gemm with %o becomes MatMul and Add', async (attributes, dims) => {
    const made = gemm(attributes, dims);
    const samples = [sampleOf('x', [6, 6], 4)];
    expect(await errorOf(made, samples)).toBeLessThan(0.02);
    expect(await errorOf(made, samples, { per_channel: true, quant_type: 'uint8' })).toBeLessThan(0.02);
    expect(operators(quantized(made()).model)).toContain('MatMulInteger');
  });

  test('a weight that is transposed by a node, and stacked ones', async () => {
    const made = () =>
      smallModel({
        nodes: [
          makeNode('Transpose', ['w'], ['t'], { attributes: { perm: [1, 0] } }),
          makeNode('MatMul', ['x', 't'], ['a'], { name: 'turned' }),
          makeNode('MatMul', ['a', 'stack'], ['y'], { name: 'stacked' }),
        ],
        constants: [constant('w', [7, 6], 1), constant('stack', [2, 7, 3], 2)],
        inputs: { x: [2, 4, 6] },
        outputs: { y: [2, 4, 3] },
      });
    expect(countOf(quantized(made()).model, 'MatMulInteger')).toBe(2);
    expect(await errorOf(made, [sampleOf('x', [2, 4, 6], 4)], { per_channel: true })).toBeLessThan(0.03);
  });
});

describe('tables', () => {
  const made = (opset: number, axis: number) => () =>
    smallModel({
      nodes: [
        makeNode('Gather', ['table', 'ids'], ['rows'], { name: 'lookup', attributes: { axis } }),
        makeNode('MatMul', ['x', 'rows'], ['y'], { name: 'product' }),
      ],
      constants: [
        constant('table', [6, 5], 1),
        makeTensor('ids', 'int64', [5], BigInt64Array.from([0n, 3n, 1n, 1n, 4n])),
      ],
      inputs: { x: [2, axis === 0 ? 5 : 6] },
      outputs: { y: [2, 5] },
      opset,
    });

  test.each([
    [13, 0, true, 'int8', [5]],
    [13, 1, true, 'uint8', []],
    [12, 0, true, 'uint8', []],
    [13, 0, false, 'uint8', []],
  ] as const)(
    'of opset %d along axis %d, per channel %s, are %s with scales %o',
    async (opset, axis, per_channel, type, dims) => {
      const { model, report } = quantized(made(opset, axis)(), { per_channel });
      expect(model.graph.initializers.get('table_quantized')).toMatchObject({ type, dims: [6, 5] });
      expect(model.graph.initializers.get('table_scale')).toMatchObject({ dims });
      expect(report.layers).toMatchObject([{ layer: 'lookup', parameters_after: 30 }]);
      expect(countParameters(model.graph)).toMatchObject({ parameters: 30 });
      const samples = [sampleOf('x', [2, axis === 0 ? 5 : 6], 4)];
      expect(await errorOf(made(opset, axis), samples, { per_channel })).toBeLessThan(0.01);
    },
  );
});

describe('ONNX Runtime`s own operators', () => {
  test('LSTM, whose weights stay int8', () => {
    const { model, report } = quantized(recurrent(14), { quant_type: 'uint8' });
    expect(countOf(model, 'DynamicQuantizeLSTM')).toBe(2);
    expect(model.opset(microsoft)).toBe(1);
    expect(model.graph.initializers.get('w_quantized')).toMatchObject({ type: 'int8', dims: [2, 6, 32] });
    expect(model.graph.initializers.get('head_quantized')).toMatchObject({ type: 'uint8' });
    expect(report.notes).toContain('Weights of LSTM are int8: its quantized form has no zero points.');
  });

  test('Attention', async () => {
    const made = () =>
      smallModel({
        nodes: [
          makeNode('Attention', ['x', 'w', 'b'], ['y'], {
            name: 'attention',
            domain: microsoft,
            attributes: { num_heads: 2 },
          }),
        ],
        constants: [constant('w', [8, 24], 1), constant('b', [24], 2)],
        inputs: { x: [1, 4, 8] },
        outputs: { y: [1, 4, 8] },
        domains: { [microsoft]: 1 },
      });
    expect(operators(quantized(made()).model)).toEqual(['DynamicQuantizeLinear', 'QAttention']);
    for (const per_channel of [false, true]) {
      expect(await errorOf(made, [sampleOf('x', [1, 4, 8], 4)], { per_channel })).toBeLessThan(0.05);
    }
  });
});

describe('what stays as it was', () => {
  test('excluded nodes and operators, and Conv unless it is included', () => {
    const named = quantized(transformer(17), { exclude: ['f.mm_node'], leaf_node: true });
    expect(countOf(named.model, 'MatMulInteger')).toBe(4);
    expect(named.report.kept).toContainEqual({ what: 'f.mm_node', why: 'the request excludes it' });
    expect(named.report.notes).toContain('leaf_node has no effect with dynamic.');
    const byOperator = quantized(recurrent(14), { exclude: ['LSTM'] });
    expect(countOf(byOperator.model, 'LSTM')).toBe(2);
    const images = quantized(convolutional(13));
    expect(countOf(images.model, 'Conv')).toBe(5);
    expect(images.report.notes[0]).toMatch(/^5 Conv stay float/);
  });

  test('GRU, and weights of other types or without a scale', () => {
    const odd = Float32Array.of(1, 2, Number.NaN, 4);
    const model = smallModel({
      nodes: [
        makeNode('GRU', ['s', 'gw', 'gr'], ['', 'h'], { name: 'gru', attributes: { hidden_size: 2 } }),
        makeNode('MatMul', ['x', 'odd'], ['a'], { name: 'odd' }),
        makeNode('Cast', ['a'], ['d'], { attributes: { to: 11 } }),
        makeNode('MatMul', ['d', 'wide'], ['b'], { name: 'wide' }),
        makeNode('MatMul', ['x', 'w'], ['y'], { name: 'plain' }),
      ],
      constants: [
        constant('gw', [1, 6, 2], 1),
        constant('gr', [1, 6, 2], 2),
        makeTensor('odd', 'float', [2, 2], odd),
        makeTensor('wide', 'double', [2, 2], Float64Array.of(1, 2, 3, 4)),
        constant('w', [2, 2], 3),
      ],
      inputs: { s: [3, 1, 2], x: [1, 2] },
      outputs: { y: [1, 2], h: [1, 1, 2], a: [1, 2] },
    });
    const report = new TransformReport();
    quantizeDynamic(model, request, report);
    expect(report.kept).toEqual([
      { what: 'gru', why: 'ONNX Runtime has no quantized GRU' },
      { what: 'odd', why: 'its weight contains values that are not finite' },
      { what: 'wide', why: 'its weight is double' },
    ]);
    expect(report.layers.map(({ layer }) => layer)).toEqual(['plain']);
  });
});

test('bodies of control flow are quantized, with weights of the graph around them', async () => {
  const body = (name: string, weight: string) =>
    create(GraphProtoSchema, {
      name,
      node: [makeNode('MatMul', ['x', weight], [`${name}_y`], { name: `${name}_product` })],
      output: [valueInfoOf({ name: `${name}_y`, type: 'float', dims: [2, 3] })],
    });
  const branch = (name: string, graph: ReturnType<typeof body>) =>
    create(AttributeProtoSchema, { name, type: AttributeProto_AttributeType.GRAPH, g: graph });
  const made = () => {
    const choose = makeNode('If', ['positive'], ['y'], { name: 'choose' });
    choose.attribute = [branch('then_branch', body('then', 'w')), branch('else_branch', body('else', 'v'))];
    return smallModel({
      nodes: [
        makeNode('ReduceSum', ['x'], ['sum'], { attributes: { keepdims: 0 } }),
        makeNode('Greater', ['sum', 'zero'], ['positive']),
        choose,
      ],
      constants: [
        constant('w', [4, 3], 1),
        constant('v', [4, 3], 2),
        makeTensor('zero', 'float', [], Float32Array.of(0)),
      ],
      inputs: { x: [2, 4] },
      outputs: { y: [2, 3] },
    });
  };
  const { model } = quantized(made());
  const bodies = [...model.graph.all()].slice(1);
  expect(bodies.map(({ nodes }) => nodes.some(({ opType }) => opType === 'MatMulInteger'))).toEqual([
    true,
    true,
  ]);
  const samples = [sampleOf('x', [2, 4], 1), sampleOf('x', [2, 4], 2), sampleOf('x', [2, 4], 3)];
  expect(await errorOf(made, samples)).toBeLessThan(0.02);
});

test('levels, scales and zero points stand for the weight', () => {
  const model = transformer(17);
  const before = model.graph.initializers.get('q.w');
  const { model: after } = quantized(model, { quant_type: 'uint8', per_channel: true });
  const [levels, scales, zeros] = ['quantized', 'scale', 'zero_point'].map((suffix) =>
    after.graph.initializers.get(`q.w_${suffix}`),
  );
  const scale = scales ? floatsOf(scales) : [];
  const float = Float32Array.from(
    levels?.bytes() ?? [],
    (level, at) => (level - (zeros?.bytes()[at % 16] ?? 0)) * (scale[at % 16] ?? 0),
  );
  expect(relativeError(float, before ? floatsOf(before) : [])).toBeLessThan(0.005);
});

describe('refusals', () => {
  test('a model without anything to quantize', () => {
    expect(() => quantized(convolutional(13), { exclude: ['Gemm'] })).toThrow(
      /^dynamic has nothing to quantize/,
    );
  });
});
