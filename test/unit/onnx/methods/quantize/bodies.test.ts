import { create } from '@bufbuild/protobuf';
import { describe, expect, test } from 'vitest';
import { applyStrategy } from '../../../../../shared/onnx/methods/apply/apply-strategy.ts';
import { calibrationTargets } from '../../../../../shared/onnx/methods/apply/calibration-targets.ts';
import { parseRequest } from '../../../../../shared/onnx/methods/apply/parse-request.ts';
import type { StaticRequest } from '../../../../../shared/onnx/methods/quantize/static/static-operators.ts';
import { TransformReport } from '../../../../../shared/onnx/methods/report/report.ts';
import type { Model } from '../../../../../shared/onnx/model/file/model.ts';
import { makeNode } from '../../../../../shared/onnx/model/graph/graph.ts';
import { valueInfoOf } from '../../../../../shared/onnx/model/graph/value-info.ts';
import {
  AttributeProto_AttributeType,
  AttributeProtoSchema,
  type GraphProto,
  GraphProtoSchema,
} from '../../../../../shared/onnx/model/proto/onnx_pb.js';
import { tensorMessage } from '../../../../../shared/onnx/model/tensor/read-tensor.ts';
import { makeTensor, type Tensor } from '../../../../../shared/onnx/model/tensor/tensor.ts';
import { calibrated } from '../../../../support/onnx/calibrated.ts';
import { seededFloats } from '../../../../support/onnx/seeded.ts';
import { copyOf, relativeError, runSmall, smallModel } from '../../../../support/onnx/small-model.ts';
import { seededRandom } from '../../../../support/seeded-random.ts';

const size = 32;
const weight = (name: string, seed: number): Tensor =>
  makeTensor(name, 'float', [size, size], seededFloats(seededRandom(seed), size * size, 0.2));
const value = (name: string, dims: readonly number[], type: 'float' | 'bool' | 'int64' = 'float') =>
  valueInfoOf({ name, type, dims });
const withBody = (node: ReturnType<typeof makeNode>, g: GraphProto) => {
  node.attribute.push(
    create(AttributeProtoSchema, { name: 'body', type: AttributeProto_AttributeType.GRAPH, g }),
  );
  return node;
};
const step = [
  makeNode('MatMul', ['h', 'own'], ['a'], { name: 'inner product' }),
  makeNode('MatMul', ['a', 'around'], ['b'], { name: 'outer weight' }),
];
const constants = [weight('around', 2)];

/** Three rounds of two products: one with a weight of the body, one with a weight of the graph around it. */
const loops: Record<string, () => Model> = {
  Loop: () => {
    const body = create(GraphProtoSchema, {
      name: 'rounds',
      node: [...step, makeNode('Tanh', ['b'], ['next']), makeNode('Identity', ['go'], ['goes'])],
      input: [value('round', [], 'int64'), value('go', [], 'bool'), value('h', [2, size])],
      output: [value('goes', [], 'bool'), value('next', [2, size])],
      initializer: [tensorMessage(weight('own', 1))],
    });
    return smallModel({
      nodes: [withBody(makeNode('Loop', ['times', '', 'x'], ['y'], { name: 'loop' }), body)],
      constants: [...constants, makeTensor('times', 'int64', [], BigInt64Array.of(3n))],
      inputs: { x: [2, size] },
      outputs: { y: [2, size] },
    });
  },
  Scan: () => {
    const body = create(GraphProtoSchema, {
      name: 'rounds',
      node: [
        makeNode('Add', ['state', 'row'], ['h']),
        ...step,
        makeNode('Tanh', ['b'], ['next']),
        makeNode('Identity', ['next'], ['seen']),
      ],
      input: [value('state', [2, size]), value('row', [2, size])],
      output: [value('next', [2, size]), value('seen', [2, size])],
      initializer: [tensorMessage(weight('own', 1))],
    });
    const scan = makeNode('Scan', ['start', 'x'], ['end', 'y'], {
      name: 'loop',
      attributes: { num_scan_inputs: 1 },
    });
    return smallModel({
      nodes: [withBody(scan, body)],
      constants: [...constants, makeTensor('start', 'float', [2, size], new Float32Array(2 * size))],
      inputs: { x: [3, 2, size] },
      outputs: { y: [3, 2, size] },
    });
  },
};
const dims = { Loop: [2, size], Scan: [3, 2, size] };

describe.each(['Loop', 'Scan'] as const)('the weights of a body of %s', (loop) => {
  const made = loops[loop] as () => Model;
  const apply = (request: object) => {
    const model = copyOf(made());
    const report = new TransformReport();
    const observed = { ranges: new Map(), statistics: new Map() };
    applyStrategy({ model, report, observed }, parseRequest({ operation: 'quantize', ...request }));
    return { model: copyOf(model), report };
  };

  test.each([
    { request: { strategy: 'dynamic', precision: 8 }, within: 0.02, operator: 'MatMulInteger' },
    { request: { strategy: 'weight_only', precision: 8 }, within: 0.02, operator: 'MatMulNBits' },
    { request: { strategy: 'weight_only', precision: 4 }, within: 0.3, operator: 'MatMulNBits' },
    { request: { strategy: 'float16', precision: 16 }, within: 2e-3, operator: 'MatMul' },
  ])('are compressed by $request', async ({ request, within, operator }) => {
    const { model, report } = apply(request);
    expect(report.layers.map(({ weight: name }) => name).sort()).toEqual(['around', 'own']);
    const [, body] = [...model.graph.all()];
    expect(body?.nodes.filter(({ opType }) => opType === operator)).toHaveLength(2);
    const kept = [...model.graph.all()].flatMap((graph) => [...graph.initializers.values()]);
    expect(kept.filter(({ name }) => name === 'own' || name === 'around')).toEqual([]);
    const data = seededFloats(
      seededRandom(9),
      dims[loop].reduce((a, b) => a * b),
    );
    const feeds = { x: { dims: dims[loop], data } };
    const [after, before] = [await runSmall(model, feeds), await runSmall(made(), feeds)];
    expect(relativeError(after['y']?.data ?? [], before['y']?.data ?? [])).toBeLessThan(within);
  });

  test('are named, with their node and body, by a method that cannot take them', () => {
    const request = parseRequest({ operation: 'quantize', strategy: 'static_minmax', precision: 8 });
    expect(() => calibrationTargets(copyOf(made()), request as StaticRequest)).toThrow(
      `are in bodies of control flow: MatMul "inner product" in body of ${loop} "loop"; MatMul "outer weight" in body of ${loop} "loop".`,
    );
    const pruning = parseRequest({ operation: 'prune', strategy: 'structured_l2', compression: 2 });
    const work = { report: new TransformReport(), observed: { ranges: new Map(), statistics: new Map() } };
    expect(() => applyStrategy({ ...work, model: copyOf(made()) }, pruning)).toThrow(
      `MatMul "inner product" in body of ${loop} "loop"`,
    );
  });
});

test.each(['a product', 'a lookup and a head'] as const)(
  'a weight of %s and of a body is stored once by static methods',
  async (users) => {
    const turned = { attributes: { perm: [1, 0] } };
    const outside =
      users === 'a product'
        ? [makeNode('MatMul', ['x', 'around'], ['h0'])]
        : [
            makeNode('ArgMax', ['x'], ['i'], { attributes: { axis: 1, keepdims: 0 } }),
            makeNode('Gather', ['around', 'i'], ['looked']),
            makeNode('Transpose', ['around'], ['turned'], turned),
            makeNode('MatMul', ['looked', 'turned'], ['h0']),
          ];
    const made = () => {
      const body = create(GraphProtoSchema, {
        name: 'rounds',
        node: [makeNode('MatMul', ['h', 'around'], ['b']), makeNode('Identity', ['go'], ['goes'])],
        input: [value('round', [], 'int64'), value('go', [], 'bool'), value('h', [2, size])],
        output: [value('goes', [], 'bool'), value('b', [2, size])],
      });
      return smallModel({
        nodes: [...structuredClone(outside), withBody(makeNode('Loop', ['times', '', 'h0'], ['y']), body)],
        constants: [weight('around', 2), makeTensor('times', 'int64', [], BigInt64Array.of(2n))],
        inputs: { x: [2, size] },
        outputs: { y: [2, size] },
      });
    };
    const feeds = { x: { dims: [2, size], data: seededFloats(seededRandom(9), 2 * size) } };
    const request = parseRequest({ operation: 'quantize', strategy: 'static_minmax', precision: 8 });
    const ranges = await calibrated(copyOf(made()), request as StaticRequest, [feeds]);
    const model = copyOf(made());

    applyStrategy(
      { model, report: new TransformReport(), observed: { ranges, statistics: new Map() } },
      request,
    );

    const matrices = [...model.graph.initializers.values()].filter(({ dims }) => dims.length === 2);
    expect(matrices.map(({ type }) => type)).toEqual(['int8']);
    const [after, before] = [await runSmall(copyOf(model), feeds), await runSmall(made(), feeds)];
    expect(relativeError(after['y']?.data ?? [], before['y']?.data ?? [])).toBeLessThan(0.05);
  },
);
