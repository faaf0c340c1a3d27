import { describe, expect, test } from 'vitest';
import { pruneStructured } from '../../../../../shared/onnx/methods/prune/structured/prune-structured.ts';
import { TransformReport } from '../../../../../shared/onnx/methods/report/report.ts';
import { makeNode } from '../../../../../shared/onnx/model/graph/graph.ts';
import { dataTypes } from '../../../../../shared/onnx/model/tensor/data-type.ts';
import { makeInt64s, makeTensor, type Tensor } from '../../../../../shared/onnx/model/tensor/tensor.ts';
import { seededFloats } from '../../../../support/onnx/seeded.ts';
import { relativeError, runSmall, smallModel } from '../../../../support/onnx/small-model.ts';
import { seededRandom } from '../../../../support/seeded-random.ts';

const channels = 16;
const floats = (name: string, dims: readonly number[], values: readonly number[] | Float32Array): Tensor =>
  makeTensor(name, 'float', dims, Float32Array.from(values));

interface Step {
  node: ReturnType<typeof makeNode>;
  /** Nodes that compute further inputs of the step. */
  before?: ReturnType<typeof makeNode>[];
  constants?: Tensor[];
  opset?: number;
  /** Channels after the step, and the factor of height and width. */
  made?: number;
  /** Whether an input channel has weights. The others are zero, and only those are removed. */
  isKept?: (channel: number) => boolean;
}

const scales = floats('s', [4], [1, 1, 2, 2]);
const steps: Record<string, Step> = {
  'Resize by scales': {
    node: makeNode('Resize', ['b', '', 's'], ['u'], { attributes: { mode: 'linear' } }),
    constants: [scales],
  },
  'Resize of opset 10': { node: makeNode('Resize', ['b', 's'], ['u']), constants: [scales], opset: 10 },
  'Resize to sizes': {
    node: makeNode('Resize', ['b', '', '', 'z'], ['u']),
    constants: [makeInt64s('z', [1, channels, 8, 8])],
  },
  'Resize of two axes': {
    node: makeNode('Resize', ['b', '', 's'], ['u'], { attributes: { axes: [2, 3] } }),
    constants: [floats('s', [2], [2, 2])],
    opset: 18,
  },
  Upsample: { node: makeNode('Upsample', ['b', 's'], ['u']), constants: [scales], opset: 9 },
  'DepthToSpace, DCR': {
    node: makeNode('DepthToSpace', ['b'], ['u'], { attributes: { blocksize: 2 } }),
    made: 4,
    isKept: (channel) => channel % 4 < 2,
  },
  'DepthToSpace, CRD': {
    node: makeNode('DepthToSpace', ['b'], ['u'], { attributes: { blocksize: 2, mode: 'CRD' } }),
    made: 4,
    isKept: (channel) => channel < 8,
  },
  'Pad of two axes': {
    node: makeNode('Pad', ['b', 'p', '', 'axes'], ['u']),
    constants: [makeInt64s('p', [2, 2, 2, 2]), makeInt64s('axes', [2, -1])],
    opset: 18,
  },
  'Pad with computed pads': {
    before: [makeNode('Cast', ['computed'], ['p'], { attributes: { to: dataTypes.int64 } })],
    node: makeNode('Pad', ['b', 'p'], ['u']),
    constants: [floats('computed', [8], [0, 0, 2, 2, 0, 0, 2, 2])],
  },
  'Clip to a range without zero': {
    before: [makeNode('Resize', ['b', '', 's'], ['r'])],
    node: makeNode('Clip', ['r', 'least'], ['u']),
    constants: [scales, floats('least', [], [0.5])],
  },
  SpaceToDepth: {
    node: makeNode('SpaceToDepth', ['b'], ['u'], { attributes: { blocksize: 2 } }),
    made: 4 * channels,
  },
};

test('channels that are padded with another value than 0 stay, and the message says why', () => {
  const model = smallModel({
    nodes: [
      makeNode('Conv', ['x', 'w1'], ['a'], { name: 'first' }),
      makeNode('Pad', ['a', 'p', 'one'], ['u'], { name: 'border' }),
      makeNode('Conv', ['u', 'w2'], ['y']),
    ],
    constants: [
      floats('w1', [channels, 3, 1, 1], seededFloats(seededRandom(1), channels * 3)),
      floats('w2', [2, channels, 1, 1], seededFloats(seededRandom(2), channels * 2)),
      makeInt64s('p', [0, 0, 2, 2, 0, 0, 2, 2]),
      floats('one', [], [1]),
    ],
    inputs: { x: [1, 3, 4, 4] },
    outputs: { y: [1, 2, 8, 8] },
  });
  const prune = () =>
    pruneStructured(
      model,
      { strategy: 'structured_l2', compression: 2, exclude: [], seed: 0 },
      new TransformReport(),
    );
  expect(prune).toThrow(
    /all 16 output channels of first: Pad border pads them with a value that may not be 0/,
  );
});

describe('structured pruning', () => {
  test.each(Object.entries(steps))('passes %s', async (_, step) => {
    const {
      node,
      before: ahead = [],
      constants = [],
      opset = 13,
      made = channels,
      isKept = (one: number) => one % 2 === 0,
    } = step;
    const random = seededRandom(3);
    const first = seededFloats(random, channels * 3 * 9).map((value, at) =>
      isKept(Math.floor(at / 27)) ? value : 0,
    );
    const model = () =>
      smallModel({
        nodes: [
          makeNode('Conv', ['x', 'w1'], ['a'], { name: 'first', attributes: { pads: [1, 1, 1, 1] } }),
          makeNode('Relu', ['a'], ['b']),
          ...structuredClone([...ahead, node]),
          makeNode('Conv', ['u', 'w2'], ['y'], { name: 'last' }),
        ],
        constants: [
          floats('w1', [channels, 3, 3, 3], first),
          floats('w2', [2, made, 1, 1], last),
          ...constants,
        ],
        inputs: { x: [1, 3, 4, 4] },
        outputs: { y: [1, 2, 8, 8] },
        opset,
      });
    const last = seededFloats(random, 2 * made);
    const feeds = { x: { dims: [1, 3, 4, 4], data: seededFloats(random, 48) } };
    const pruned = model();

    pruneStructured(
      pruned,
      { strategy: 'structured_l2', compression: 2, exclude: [], seed: 0 },
      new TransformReport(),
    );

    const weights = [...pruned.graph.initializers.values()].filter(({ dims }) => dims.length === 4);
    expect(weights.map(({ dims }) => dims.slice(0, 2))).toEqual([
      [channels / 2, 3],
      [2, made / 2],
    ]);
    const [before, after] = [await runSmall(model(), feeds), await runSmall(pruned, feeds)];
    expect(relativeError(after['y']?.data ?? [], before['y']?.data ?? [])).toBeLessThan(1e-6);
  });
});
