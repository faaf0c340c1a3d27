import { describe, expect, test } from 'vitest';
import { applyStrategy } from '../../../../../shared/onnx/methods/apply/apply-strategy.ts';
import { parseRequest } from '../../../../../shared/onnx/methods/apply/parse-request.ts';
import { TransformReport } from '../../../../../shared/onnx/methods/report/report.ts';
import type { Model } from '../../../../../shared/onnx/model/file/model.ts';
import { makeNode } from '../../../../../shared/onnx/model/graph/graph.ts';
import { dataTypes } from '../../../../../shared/onnx/model/tensor/data-type.ts';
import { makeTensor } from '../../../../../shared/onnx/model/tensor/tensor.ts';
import { floatsOf } from '../../../../../shared/onnx/model/tensor/values.ts';
import { seededFloats } from '../../../../support/onnx/seeded.ts';
import { copyOf, relativeError, runSmall, smallModel } from '../../../../support/onnx/small-model.ts';
import { seededRandom } from '../../../../support/seeded-random.ts';

const width = 32;
const units = 64;

/** Values of every second unit are zero, so that it can go without a change. */
const alive = (values: Float32Array, by: number): Float32Array =>
  values.map((value, at) => (Math.floor(at / by) % 2 === 0 ? value : 0));
const first = alive(seededFloats(seededRandom(1), units * width), width);
const bias = alive(seededFloats(seededRandom(2), units), 1);
const second = seededFloats(seededRandom(3), units * width);

const stored = {
  float16: (values: Float32Array) => new Float16Array(values),
  bfloat16: (values: Float32Array) => Uint16Array.from(new Uint32Array(values.buffer), (bits) => bits >>> 16),
};

/** Two layers whose constants are stored in half precision. */
function layers(type: keyof typeof stored): Model {
  const constants: [string, readonly number[], Float32Array][] = [
    ['w1', [units, width], first],
    ['b1', [units], bias],
    ['w2', [units, width], second],
  ];
  return smallModel({
    nodes: [
      ...constants.map(([name]) =>
        makeNode('Cast', [`${name}_half`], [name], {
          name: `cast ${name}`,
          attributes: { to: dataTypes.float },
        }),
      ),
      makeNode('Gemm', ['x', 'w1', 'b1'], ['a'], { attributes: { transB: 1 } }),
      makeNode('Relu', ['a'], ['b']),
      makeNode('MatMul', ['b', 'w2'], ['y']),
    ],
    constants: constants.map(([name, dims, values]) =>
      makeTensor(`${name}_half`, type, dims, stored[type](values)),
    ),
    inputs: { x: [3, width] },
    outputs: { y: [3, width] },
  });
}

const feeds = { x: { dims: [3, width], data: seededFloats(seededRandom(4), 3 * width) } };

function pruned(model: Model, strategy: string): { model: Model; report: TransformReport } {
  const report = new TransformReport();
  applyStrategy(
    { model, report, observed: { ranges: new Map(), statistics: new Map() } },
    parseRequest({ operation: 'prune', strategy, compression: 2 }),
  );
  return { model: copyOf(model), report };
}

describe.each(['float16', 'bfloat16'] as const)('weights stored in %s', (type) => {
  test('lose units without weights, and stay in that type', async () => {
    const { model } = pruned(layers(type), 'structured_l2');
    const constants = [...model.graph.initializers.values()];
    expect(constants.map((tensor) => [tensor.type, tensor.dims])).toEqual([
      [type, [units / 2, width]],
      [type, [units / 2]],
      [type, [units / 2, width]],
    ]);
    const [after, before] = [await runSmall(model, feeds), await runSmall(layers(type), feeds)];
    expect(relativeError(after['y']?.data ?? [], before['y']?.data ?? [])).toBeLessThan(1e-6);
  });

  test('are zeroed where they are stored', () => {
    const { model } = pruned(layers(type), 'magnitude_local');
    const constants = [...model.graph.initializers.values()];
    expect(constants.map((tensor) => tensor.type)).toEqual([type, type, type]);
    const zeros = constants.flatMap((tensor) => [...floatsOf(tensor)]).filter((value) => value === 0);
    expect(zeros.length).toBeGreaterThanOrEqual(units * width);
  });
});

test('a table that an output head shares keeps its width, and the message says why', () => {
  const model = smallModel({
    nodes: [
      makeNode('Cast', ['x'], ['i'], { attributes: { to: dataTypes.int64 } }),
      makeNode('Gather', ['t', 'i'], ['e'], { name: 'lookup' }),
      makeNode('MatMul', ['e', 'w'], ['h'], { name: 'layer' }),
      makeNode('Gemm', ['h', 't'], ['y'], { name: 'head', attributes: { transB: 1 } }),
    ],
    constants: [
      makeTensor('t', 'float', [100, width], seededFloats(seededRandom(5), 100 * width)),
      makeTensor('w', 'float', [width, width], seededFloats(seededRandom(6), width * width)),
    ],
    inputs: { x: [3] },
    outputs: { y: [3, 100] },
  });
  expect(() => pruned(model, 'structured_l2')).toThrow(
    /all 32 output channels of layer: Gather lookup reads the same weight whole/,
  );
});
