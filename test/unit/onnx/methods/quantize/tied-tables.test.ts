import { describe, expect, test } from 'vitest';
import { applyStrategy } from '../../../../../shared/onnx/methods/apply/apply-strategy.ts';
import { parseRequest } from '../../../../../shared/onnx/methods/apply/parse-request.ts';
import { quantizeWeightOnly } from '../../../../../shared/onnx/methods/quantize/blocks/weight-only.ts';
import type { DynamicRequest } from '../../../../../shared/onnx/methods/quantize/dynamic/dynamic-graph.ts';
import { quantizeDynamic } from '../../../../../shared/onnx/methods/quantize/dynamic/quantize-dynamic.ts';
import { quantizeStatic } from '../../../../../shared/onnx/methods/quantize/static/quantize-static.ts';
import { TransformReport } from '../../../../../shared/onnx/methods/report/report.ts';
import type { Model } from '../../../../../shared/onnx/model/file/model.ts';
import { makeNode } from '../../../../../shared/onnx/model/graph/graph.ts';
import { makeInt64s, makeTensor } from '../../../../../shared/onnx/model/tensor/tensor.ts';
import { calibrated } from '../../../../support/onnx/calibrated.ts';
import { runOptimized } from '../../../../support/onnx/run-optimized.ts';
import { seededFloats } from '../../../../support/onnx/seeded.ts';
import { relativeError, runSmall, savedBytes, smallModel } from '../../../../support/onnx/small-model.ts';
import { seededRandom } from '../../../../support/seeded-random.ts';

const request: DynamicRequest = {
  ...{ quant_type: 'int8', per_channel: false, reduce_range: false, leaf_node: false },
  ...{ exclude: [], include: [], smooth_alpha: null, equalize: false, bias_correction: false },
};

const [words, width] = [300, 32];
const table = makeTensor('table', 'float', [words, width], seededFloats(seededRandom(1), words * width));
const bias = makeTensor('bias', 'float', [words], seededFloats(seededRandom(2), words));

const heads = {
  'Transpose and MatMul': [
    makeNode('Transpose', ['table'], ['turned'], { attributes: { perm: [1, 0] } }),
    makeNode('MatMul', ['x', 'turned'], ['y']),
  ],
  'Transpose without perm and MatMul': [
    makeNode('Transpose', ['table'], ['turned']),
    makeNode('MatMul', ['x', 'turned'], ['y']),
  ],
  'Gemm with transB': [makeNode('Gemm', ['x', 'table', 'bias'], ['y'], { attributes: { transB: 1 } })],
} as const;

/** Apply a quantization. The scores of the head are larger than other activations. */
function apply(model: Model, asked: Readonly<Record<string, unknown>>): void {
  const made = [...model.graph.all()].flatMap(({ nodes }) => nodes.flatMap(({ output }) => output));
  const most = (name: string) => (name === 'y' ? 40 : 4);
  const ranges = new Map(made.map((name) => [name, { min: -most(name), max: most(name) }] as const));
  const request = parseRequest({ operation: 'quantize', ...asked });
  applyStrategy(
    { model, report: new TransformReport(), observed: { ranges, statistics: new Map() } },
    request,
  );
}

const headNames = Object.keys(heads) as (keyof typeof heads)[];

/** A model that looks up rows of a table and multiplies with the same table. */
const tiedModel = (head: keyof typeof heads): Model =>
  smallModel({
    nodes: [
      makeNode('Cast', ['i'], ['indices'], { attributes: { to: 7 } }),
      makeNode('Gather', ['table', 'indices'], ['x']),
      ...structuredClone(heads[head]),
    ],
    constants: [table, bias],
    inputs: { i: [4] },
    outputs: { y: [4, words] },
  });

const forms = [{}, { per_channel: true }, { quant_type: 'uint8', per_channel: true }] as const;

describe('a table that a lookup and a product share', () => {
  test.each(headNames.flatMap((head) => forms.map((form) => [head, form] as const)))(
    'is stored once in 8 bits: %s, %j',
    async (head, form) => {
      const feeds = { i: { dims: [4], data: Float32Array.of(0, 7, 42, words - 1) } };
      const before = await runSmall(tiedModel(head), feeds);
      const model = tiedModel(head);

      quantizeDynamic(model, { ...request, ...form }, new TransformReport());

      const after = await runSmall(model, feeds);
      const matrices = [...model.graph.initializers.values()].filter(({ dims }) => dims.length === 2);
      expect(matrices.map(({ dims }) => dims)).toEqual([[words, width]]);
      expect(savedBytes(model).length).toBeLessThan(words * width * 1.6);
      expect(relativeError(after['y']?.data ?? [], before['y']?.data ?? [])).toBeLessThan(0.03);
    },
  );

  test.each(
    headNames.flatMap((head) =>
      [{}, { per_channel: false }, { inputs_only: true }].map((form) => [head, form] as const),
    ),
  )('is stored once by static methods: %s, %j', async (head, form) => {
    const feeds = { i: { dims: [4], data: Float32Array.of(0, 7, 42, words - 1) } };
    const before = await runSmall(tiedModel(head), feeds);
    const asked = {
      ...request,
      per_channel: true,
      inputs_only: false,
      quant_type: 'uint8',
      ...form,
    } as const;
    const ranges = await calibrated(tiedModel(head), asked, [feeds]);
    const model = tiedModel(head);

    quantizeStatic(model, asked, ranges, new TransformReport());

    expect(await runOptimized(model, [feeds])).toHaveLength(4 * words);
    const after = await runSmall(model, feeds);
    const matrices = [...model.graph.initializers.values()].filter(({ dims }) => dims.length === 2);
    expect(matrices.map(({ dims, type }) => [type, dims])).toEqual([['int8', [words, width]]]);
    expect(relativeError(after['y']?.data ?? [], before['y']?.data ?? [])).toBeLessThan(0.03);
  });

  const strategies = [
    { strategy: 'dynamic', precision: 8 },
    { strategy: 'static_minmax', precision: 8 },
    { strategy: 'weight_only', precision: 8 },
  ] as const;

  test.each(
    strategies.flatMap((one) => [
      { ...one, head: makeNode('MatMul', ['x', 'weight'], ['y']) },
      { ...one, head: makeNode('Gemm', ['x', 'weight', 'bias'], ['y']) },
    ]),
  )('is stored once by $strategy as the weight of $head.opType', async ({ head, ...asked }) => {
    const feeds = { i: { dims: [4], data: Float32Array.of(0, 7, 42, words - 1) } };
    const tied = () =>
      smallModel({
        nodes: [
          makeNode('Cast', ['i'], ['indices'], { attributes: { to: 7 } }),
          makeNode('Transpose', ['weight'], ['looked'], { attributes: { perm: [1, 0] } }),
          makeNode('Gather', ['looked', 'indices'], ['x']),
          structuredClone(head),
        ],
        constants: [
          makeTensor('weight', 'float', [width, words], seededFloats(seededRandom(1), words * width)),
          bias,
        ],
        inputs: { i: [4] },
        outputs: { y: [4, words] },
      });
    const before = await runSmall(tied(), feeds);
    const model = tied();

    apply(model, asked);

    const after = await runSmall(model, feeds);
    expect(savedBytes(model).length).toBeLessThan(words * width * 1.7);
    expect(relativeError(after['y']?.data ?? [], before['y']?.data ?? [])).toBeLessThan(0.06);
  });

  test.each(
    strategies.flatMap((one) => [
      { ...one, reader: makeNode('Slice', ['table', 'from', 'to'], ['r']), name: 'another node cuts it' },
      { ...one, reader: makeNode('Neg', ['turned'], ['r']), name: 'another node takes its transpose' },
      { ...one, reader: makeNode('Identity', ['table'], ['r']), name: 'it is an output' },
    ]),
  )('is stored in at most its float form by $strategy if $name', ({ reader, name, ...asked }) => {
    const tied = () =>
      smallModel({
        nodes: [
          makeNode('Cast', ['i'], ['indices'], { attributes: { to: 7 } }),
          makeNode('Gather', ['table', 'indices'], ['x']),
          makeNode('Transpose', ['table'], ['turned'], { attributes: { perm: [1, 0] } }),
          makeNode('MatMul', ['x', 'w'], ['h']),
          makeNode('MatMul', ['h', 'turned'], ['y']),
          structuredClone(reader),
        ],
        constants: [
          table,
          makeInt64s('from', [0]),
          makeInt64s('to', [1]),
          makeTensor('w', 'float', [width, width], seededFloats(seededRandom(4), width * width)),
        ],
        inputs: { i: [4] },
        outputs: { y: [4, words], r: [] },
      });
    const model = tied();

    apply(model, asked);

    expect(savedBytes(model).length).toBeLessThan(savedBytes(tied()).length);
  });

  test.each(['dynamic', 'weight_only'] as const)(
    'is looked up in float by %s if a product scales it',
    async (strategy) => {
      const scaled = () =>
        smallModel({
          nodes: [
            makeNode('Cast', ['i'], ['indices'], { attributes: { to: 7 } }),
            makeNode('Gather', ['table', 'indices'], ['x'], { name: 'lookup' }),
            makeNode('Mul', ['table', 'factor'], ['large']),
            makeNode('Transpose', ['large'], ['turned'], { attributes: { perm: [1, 0] } }),
            makeNode('MatMul', ['x', 'w'], ['h'], { name: 'layer' }),
            makeNode('MatMul', ['h', 'turned'], ['y'], { name: 'head' }),
          ],
          constants: [
            table,
            makeTensor('factor', 'float', [], Float32Array.of(8)),
            makeTensor('w', 'float', [width, width], seededFloats(seededRandom(4), width * width)),
          ],
          inputs: { i: [4] },
          outputs: { y: [4, words] },
        });
      const model = scaled();
      const report = new TransformReport();

      if (strategy === 'dynamic') quantizeDynamic(model, request, report);
      else quantizeWeightOnly(model, { precision: 8, quant_type: 'int8', exclude: [] }, report);

      expect(savedBytes(model).length).toBeLessThan(savedBytes(scaled()).length);
      expect(report.kept.find(({ what }) => what === 'lookup')?.why).toContain('also needed in float');
    },
  );
});
