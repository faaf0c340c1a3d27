import { create } from '@bufbuild/protobuf';
import { describe, expect, test } from 'vitest';
import type { CalibrationStatistics } from '../../../../../shared/onnx/methods/calibrate/statistics-file.ts';
import { awqMethod } from '../../../../../shared/onnx/methods/quantize/blocks/awq-method.ts';
import { quantizeWeightOnly } from '../../../../../shared/onnx/methods/quantize/blocks/weight-only.ts';
import { divideActivations } from '../../../../../shared/onnx/methods/quantize/divide-activations.ts';
import { TransformReport } from '../../../../../shared/onnx/methods/report/report.ts';
import { makeNode, Names } from '../../../../../shared/onnx/model/graph/graph.ts';
import { valueInfoOf } from '../../../../../shared/onnx/model/graph/value-info.ts';
import {
  AttributeProto_AttributeType,
  AttributeProtoSchema,
  GraphProtoSchema,
} from '../../../../../shared/onnx/model/proto/onnx_pb.js';
import { tensorMessage } from '../../../../../shared/onnx/model/tensor/read-tensor.ts';
import { makeTensor, type Tensor } from '../../../../../shared/onnx/model/tensor/tensor.ts';
import { seededFloats } from '../../../../support/onnx/seeded.ts';
import { copyOf, relativeError, runSmall, smallModel } from '../../../../support/onnx/small-model.ts';
import { seededRandom } from '../../../../support/seeded-random.ts';

const inputs = 64;
const rows = 40;
/** Every second input is large, and its weights are small, as training leaves them. */
const sizeOf = (channel: number): number => (channel % 2 === 0 ? 80 : 1);
const random = seededRandom(5);
const x = seededFloats(random, rows * inputs).map((value, at) => value * sizeOf(at % inputs));
const weight = seededFloats(random, inputs * 48).map((value, at) => value / sizeOf(Math.floor(at / 48)));
const feeds = { x: { dims: [rows, inputs], data: x } };

const products = () =>
  smallModel({
    nodes: [makeNode('MatMul', ['x', 'w'], ['y'], { name: 'layer' })],
    constants: [makeTensor('w', 'float', [inputs, 48], weight)],
    inputs: { x: ['batch', inputs] },
    outputs: { y: ['batch', 48] },
  });

const moment = new Float64Array(inputs * inputs).map((_, at) => {
  let sum = 0;
  for (let row = 0; row < rows; row += 1)
    sum += (x[row * inputs + Math.floor(at / inputs)] ?? 0) * (x[row * inputs + (at % inputs)] ?? 0);
  return sum / rows;
});
const statistics: CalibrationStatistics = new Map([
  [
    'x',
    {
      ...{ channels: inputs, rows, mean: new Float64Array(inputs) },
      largest: Float64Array.from({ length: inputs }, (_, at) => sizeOf(at)),
      moment: () => moment,
    },
  ],
]);

/** Error of the outputs of a quantized model. */
async function errorOf(change: (model: ReturnType<typeof products>) => void): Promise<number> {
  const model = products();
  change(model);
  const [after, before] = [await runSmall(copyOf(model), feeds), await runSmall(products(), feeds)];
  return relativeError(after['y']?.data ?? [], before['y']?.data ?? []);
}

const four = { precision: 4, quant_type: 'int4', exclude: [], block_size: null } as const;

test('weights of inputs that differ eightyfold keep their digits in 4 bits if the inputs are scaled', async () => {
  const report = new TransformReport();
  const plain = await errorOf((model) => quantizeWeightOnly(model, four, new TransformReport()));
  const scaled = await errorOf((model) =>
    quantizeWeightOnly(model, four, report, {
      statistics,
      methodOf: (uses, scaled, memory) => awqMethod(scaled, memory)(uses),
    }),
  );
  expect(plain).toBeGreaterThan(0.3);
  expect(scaled).toBeLessThan(0.12);
  expect(report.notes).toEqual(['1 inputs were scaled by channel, 1 of them by an additional Mul.']);
});

describe.each([4, 8] as const)('blocks of %i bits', (precision) => {
  test.each([16, 32, 64, 128, 256] as const)('run with %i weights each', async (block_size) => {
    const request = { precision, exclude: [], block_size } as const;
    const errors: number[] = [];
    for (const quant_type of [`int${precision}`, `uint${precision}`] as const)
      errors.push(
        await errorOf((model) => {
          quantizeWeightOnly(model, { ...request, quant_type }, new TransformReport(), {
            statistics,
            methodOf: (uses, scaled, memory) => awqMethod(scaled, memory)(uses),
          });
        }),
      );
    for (const error of errors) expect(error).toBeLessThan(precision === 4 ? 0.15 : 0.02);
  });
});

test('a layer that is named has 8 bits, and the others have 4', async () => {
  const two = () =>
    smallModel({
      nodes: [
        makeNode('MatMul', ['x', 'w'], ['a'], { name: 'first' }),
        makeNode('MatMul', ['a', 'v'], ['y'], { name: 'second' }),
      ],
      constants: [
        makeTensor('w', 'float', [inputs, 48], weight),
        makeTensor('v', 'float', [48, 48], weight.subarray(0, 48 * 48)),
      ],
      inputs: { x: ['batch', inputs] },
      outputs: { y: ['batch', 48] },
    });
  const model = two();
  quantizeWeightOnly(model, { ...four, eightBits: ['second'] }, new TransformReport());
  const bits = model.graph.nodes.map(({ attribute }) => attribute.find(({ name }) => name === 'bits')?.i);
  expect(bits).toEqual([4n, 8n]);
  expect((await runSmall(copyOf(model), feeds))['y']?.dims).toEqual([rows, 48]);
});

describe('factors go into what produces the activation', () => {
  const width = 6;
  const constant = (name: string, dims: readonly number[], seed: number): Tensor =>
    makeTensor(
      name,
      'float',
      dims,
      seededFloats(
        seededRandom(seed),
        dims.reduce((a, b) => a * b, 1),
      ),
    );
  const vector = constant('v', [width], 1);
  const square = constant('m', [width, width], 2);
  const producers: Record<
    string,
    { nodes: ReturnType<typeof makeNode>[]; constants: Tensor[]; muls?: number }
  > = {
    'a product, its bias and an activation': {
      nodes: [
        makeNode('MatMul', ['x', 'm'], ['p']),
        makeNode('Add', ['p', 'v'], ['q']),
        makeNode('Relu', ['q'], ['a']),
      ],
      constants: [square, vector],
    },
    'a Gemm with a transposed weight': {
      nodes: [makeNode('Gemm', ['x', 'm', 'v'], ['a'], { attributes: { transB: 1 } })],
      constants: [square, vector],
    },
    'a standardization': {
      nodes: [makeNode('Sub', ['x', 'v'], ['q']), makeNode('Div', ['q', 'v'], ['a'])],
      constants: [vector],
    },
    'a factor': { nodes: [makeNode('Mul', ['v', 'x'], ['a'])], constants: [vector] },
    'a LayerNormalization': {
      nodes: [makeNode('LayerNormalization', ['x', 'v', 'w'], ['a'])],
      constants: [vector, constant('w', [width], 3)],
    },
    'a gated product': {
      nodes: [
        makeNode('MatMul', ['x', 'm'], ['p']),
        makeNode('Sigmoid', ['x'], ['g']),
        makeNode('Mul', ['g', 'p'], ['a']),
      ],
      constants: [square],
    },
    'nothing before a Sigmoid': {
      nodes: [makeNode('MatMul', ['x', 'm'], ['p']), makeNode('Sigmoid', ['p'], ['a'])],
      constants: [square],
      muls: 1,
    },
    'nothing whose result others use': {
      nodes: [makeNode('MatMul', ['x', 'm'], ['a']), makeNode('Relu', ['a'], ['other'])],
      constants: [square],
      muls: 1,
    },
  };

  test.each(Object.entries(producers))('%s', async (_, { nodes, constants, muls = 0 }) => {
    const network = () =>
      smallModel({
        nodes: [
          ...nodes.map((node) => structuredClone(node)),
          makeNode('MatMul', ['a', 'k'], ['left'], { name: 'left' }),
          makeNode('Gemm', ['a', 'l'], ['right'], { name: 'right', attributes: { transB: 1 } }),
          makeNode('Add', ['left', 'right'], ['y']),
        ],
        constants: [...constants, constant('k', [width, 5], 6), constant('l', [5, width], 7)],
        inputs: { x: [3, width] },
        outputs: { y: [3, 5] },
      });
    const fed = { x: { dims: [3, width], data: seededFloats(seededRandom(8), 3 * width) } };
    const model = network();
    const by = Float32Array.of(80, 1, 0.01, 4, 30, 0.5);

    const divided = divideActivations(model.graph, new Names(model.graph), [], (activation) =>
      activation === 'a' ? by : undefined,
    );

    expect(divided.nodes).toBe(muls);
    const [after, before] = [await runSmall(copyOf(model), fed), await runSmall(network(), fed)];
    expect(relativeError(after['y']?.data ?? [], before['y']?.data ?? [])).toBeLessThan(1e-5);
  });
});

describe.each(['of the body', 'of the graph around it'])(
  'a product in a branch with a weight %s',
  (owner) => {
    test('is scaled by the sizes of its weights', async () => {
      const made = makeTensor('w', 'float', [inputs, 48], weight);
      const branch = (name: string) =>
        create(AttributeProtoSchema, {
          name,
          type: AttributeProto_AttributeType.GRAPH,
          g: create(GraphProtoSchema, {
            name,
            node: [
              makeNode(
                name === 'then_branch' ? 'MatMul' : 'Neg',
                ['x', 'w'].slice(0, name === 'then_branch' ? 2 : 1),
                [`${name}_y`],
              ),
            ],
            output: [valueInfoOf({ name: `${name}_y`, type: 'float', dims: ['rows', 'columns'] })],
            initializer: owner === 'of the body' && name === 'then_branch' ? [tensorMessage(made)] : [],
          }),
        });
      const branching = () => {
        const node = makeNode('If', ['yes'], ['y'], { name: 'choice' });
        node.attribute.push(branch('then_branch'), branch('else_branch'));
        return smallModel({
          nodes: [node],
          constants: [
            makeTensor('yes', 'bool', [], Uint8Array.of(1)),
            ...(owner === 'of the body' ? [] : [made]),
          ],
          inputs: { x: ['batch', inputs] },
          outputs: { y: ['batch', 'columns'] },
        });
      };
      const model = branching();
      quantizeWeightOnly(model, four, new TransformReport(), {
        statistics: new Map(),
        methodOf: (uses, scaled, memory) => awqMethod(scaled, memory)(uses),
      });
      const [after, before] = [await runSmall(copyOf(model), feeds), await runSmall(branching(), feeds)];
      expect(relativeError(after['y']?.data ?? [], before['y']?.data ?? [])).toBeLessThan(0.15);
    });
  },
);
