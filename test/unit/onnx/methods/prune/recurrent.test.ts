import { expect, test } from 'vitest';
import { pruneStructured } from '../../../../../shared/onnx/methods/prune/structured/prune-structured.ts';
import { TransformReport } from '../../../../../shared/onnx/methods/report/report.ts';
import { makeNode } from '../../../../../shared/onnx/model/graph/graph.ts';
import { makeInt64s, makeTensor, type Tensor } from '../../../../../shared/onnx/model/tensor/tensor.ts';
import { seededFloats } from '../../../../support/onnx/seeded.ts';
import { copyOf, relativeError, runSmall, smallModel } from '../../../../support/onnx/small-model.ts';
import { seededRandom } from '../../../../support/seeded-random.ts';

const [sequence, batch, inputs, hidden] = [5, 3, 6, 16];
/** Units with weights. The others are zero, and only those are removed. */
const isKept = (unit: number): boolean => unit % 2 === 0;
const random = seededRandom(11);

/** A constant whose channels along an axis are units, gate by gate, and zero for those without weights. */
function units(name: string, dims: readonly number[], ...axes: number[]): Tensor {
  const count = dims.reduce((product, dim) => product * dim, 1);
  const values = seededFloats(random, count).map((value, at) => {
    const places = dims.map(
      (dim, axis) => Math.floor(at / dims.slice(axis + 1).reduce((a, b) => a * b, 1)) % dim,
    );
    return axes.every((axis) => isKept((places[axis] ?? 0) % hidden)) ? value : 0;
  });
  return makeTensor(name, 'float', dims, values);
}

interface Form {
  operator: 'LSTM' | 'GRU' | 'RNN';
  gates: number;
  directions?: number;
  attributes?: Record<string, number | string>;
  states?: 'constant' | 'zero';
  peepholes?: boolean;
}

const forms: Record<string, Form> = {
  LSTM: { operator: 'LSTM', gates: 4 },
  'LSTM in both directions': { operator: 'LSTM', gates: 4, directions: 2 },
  'LSTM with peepholes and first states': { operator: 'LSTM', gates: 4, states: 'constant', peepholes: true },
  'LSTM whose first states are made as zeros': { operator: 'LSTM', gates: 4, states: 'zero' },
  GRU: { operator: 'GRU', gates: 3 },
  'GRU of PyTorch': { operator: 'GRU', gates: 3, attributes: { linear_before_reset: 1 }, directions: 2 },
  RNN: { operator: 'RNN', gates: 1, states: 'constant' },
};

/** Two recurrent layers and a product on the whole sequence, and one on the last state of the second layer. */
function network({ operator, gates, directions = 1, attributes = {}, states, peepholes = false }: Form) {
  const layer = (at: number, from: string, width: number) => {
    const state = (name: string): string => (states === undefined ? '' : `${name}${at}`);
    const isLstm = operator === 'LSTM';
    const constants = [
      units(`w${at}`, [directions, gates * hidden, width], ...(at === 1 ? [1] : [1, 2])),
      units(`r${at}`, [directions, gates * hidden, hidden], 1, 2),
      units(`b${at}`, [directions, 2 * gates * hidden], 1),
      ...(states === 'constant'
        ? ['h', ...(isLstm ? ['c'] : [])].map((name) => units(`${name}${at}`, [directions, batch, hidden], 2))
        : []),
      ...(peepholes ? [units(`p${at}`, [directions, 3 * hidden], 1)] : []),
    ];
    const zeros = ['h', ...(isLstm ? ['c'] : [])].flatMap((name) =>
      states === 'zero' ? [makeNode('Expand', ['nothing', 'size'], [`${name}${at}`])] : [],
    );
    const more = [state('h'), ...(isLstm ? [state('c'), ...(peepholes ? [`p${at}`] : [])] : [])];
    const node = makeNode(
      operator,
      [from, `w${at}`, `r${at}`, `b${at}`, '', ...more],
      [`all${at}`, `last${at}`],
      {
        name: `layer${at}`,
        attributes: {
          hidden_size: hidden,
          ...attributes,
          ...(directions === 2 && { direction: 'bidirectional' }),
        },
      },
    );
    // As PyTorch's exporter joins the directions.
    const joined =
      directions === 1
        ? [makeNode('Squeeze', [`all${at}`, 'one'], [`y${at}`])]
        : [
            makeNode('Transpose', [`all${at}`], [`t${at}`], { attributes: { perm: [0, 2, 1, 3] } }),
            makeNode('Reshape', [`t${at}`, 'joined'], [`y${at}`]),
          ];
    return { constants, nodes: [...zeros, node, ...joined] };
  };
  const width = directions * hidden;
  const [first, second] = [layer(1, 'x', inputs), layer(2, 'y1', width)];
  return smallModel({
    nodes: [
      ...first.nodes,
      ...second.nodes,
      makeNode('MatMul', ['y2', 'head'], ['y'], { name: 'head' }),
      makeNode('MatMul', ['last2', 'end'], ['z'], { name: 'end' }),
    ],
    constants: [
      ...first.constants,
      ...second.constants,
      units('head', [width, 4], 0),
      units('end', [hidden, 4], 0),
      makeInt64s('one', [1]),
      makeInt64s('joined', [0, 0, -1]),
      makeInt64s('size', [directions, batch, hidden]),
      makeTensor('nothing', 'float', [1, 1, 1], Float32Array.of(0)),
    ],
    inputs: { x: ['time', 'samples', inputs] },
    outputs: { y: ['time', 'samples', 4], z: [directions, 'samples', 4] },
  });
}

test.each(Object.entries(forms))(
  'hidden units of %s are removed, and the model computes the same',
  async (_, form) => {
    const model = network(form);
    const pruned = copyOf(model);
    const report = new TransformReport();
    const feeds = {
      x: { dims: [sequence, batch, inputs], data: seededFloats(random, sequence * batch * inputs) },
    };

    pruneStructured(pruned, { strategy: 'structured_l2', compression: 2, exclude: [], seed: 0 }, report);

    const sizes = ['w1', 'w2'].map((name) => pruned.graph.initializers.get(name)?.dims[1] ?? 0);
    for (const size of sizes) expect(size).toBeLessThan(form.gates * hidden);
    expect(report.layers.map(({ layer }) => layer)).toEqual(
      expect.arrayContaining(['layer1', 'layer2', 'head']),
    );
    const [before, after] = [await runSmall(model, feeds), await runSmall(copyOf(pruned), feeds)];
    for (const name of ['y', 'z'])
      expect(relativeError(after[name]?.data ?? [], before[name]?.data ?? [])).toBeLessThan(1e-5);
  },
);

test('a first state that is an input of the model keeps the units, and the report says once for which layers', () => {
  const model = smallModel({
    nodes: [
      makeNode('GRU', ['x', 'w1', 'r1', '', '', 'h'], ['all', ''], {
        name: 'one',
        attributes: { hidden_size: hidden },
      }),
      makeNode('Squeeze', ['all', 'axis'], ['y1']),
      makeNode('MatMul', ['y1', 'v'], ['y'], { name: 'head' }),
    ],
    constants: [
      units('w1', [1, 3 * hidden, inputs]),
      units('r1', [1, 3 * hidden, hidden]),
      units('v', [hidden, 4]),
      makeInt64s('axis', [1]),
    ],
    inputs: { x: [sequence, batch, inputs], h: [1, batch, hidden] },
    outputs: { y: [sequence, batch, 4] },
  });
  expect(() =>
    pruneStructured(
      model,
      { strategy: 'structured_l2', compression: 2, exclude: [], seed: 0 },
      new TransformReport(),
    ),
  ).toThrow(
    /all 16 output channels of one: GRU one has an initial state that is computed or an input of the model/,
  );
});
