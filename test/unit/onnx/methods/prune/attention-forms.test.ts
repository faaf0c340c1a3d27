import { describe, expect, test } from 'vitest';
import { pruneMagnitude } from '../../../../../shared/onnx/methods/prune/magnitude.ts';
import { pruneStructured } from '../../../../../shared/onnx/methods/prune/structured/prune-structured.ts';
import { TransformReport } from '../../../../../shared/onnx/methods/report/report.ts';
import type { Model } from '../../../../../shared/onnx/model/file/model.ts';
import { makeNode } from '../../../../../shared/onnx/model/graph/graph.ts';
import { unfoldEinsum } from '../../../../../shared/onnx/model/graph/unfold-einsum.ts';
import type { NodeProto } from '../../../../../shared/onnx/model/proto/onnx_pb.js';
import { makeInt64s, makeTensor, type Tensor } from '../../../../../shared/onnx/model/tensor/tensor.ts';
import { seededFloats } from '../../../../support/onnx/seeded.ts';
import { copyOf, relativeError, runSmall, smallModel } from '../../../../support/onnx/small-model.ts';
import { seededRandom } from '../../../../support/seeded-random.ts';

const [tokens, width, heads, size] = [6, 32, 4, 8];

const count = (dims: readonly number[]): number => dims.reduce((product, dim) => product * dim, 1);

/** A constant that is zero for some places of its last axis. */
function weight(name: string, dims: readonly number[], isZero = (_: number) => false): Tensor {
  const last = dims.at(-1) ?? 1;
  const values = seededFloats(seededRandom(name.length + count(dims)), count(dims));
  return makeTensor(
    name,
    'float',
    dims,
    values.map((value, at) => (isZero(at % last) ? 0 : value / 4)),
  );
}

/** Columns of the heads 1 and 3. */
const ofOddHead = (at: number): boolean => Math.floor(at / size) % 2 === 1;

interface Form {
  nodes: readonly NodeProto[];
  constants: readonly Tensor[];
  /** Constants after half of the channels of the attention are removed, by their numbers of values. */
  left: readonly number[];
}

const after = (): NodeProto[] => [
  makeNode('Transpose', ['k'], ['kt'], { attributes: { perm: [0, 1, 3, 2] } }),
  makeNode('MatMul', ['q', 'kt'], ['s']),
  makeNode('Softmax', ['s'], ['p'], { attributes: { axis: -1 } }),
  makeNode('MatMul', ['p', 'v'], ['o']),
  makeNode('Transpose', ['o'], ['ot'], { attributes: { perm: [0, 2, 1, 3] } }),
  makeNode('Reshape', ['ot', 'three'], ['or']),
  makeNode('MatMul', ['or', 'wo'], ['y']),
];
const joint = (): NodeProto[] => [
  makeNode('MatMul', ['x', 'w'], ['qkv']),
  makeNode('Reshape', ['qkv', 'five'], ['apart']),
  makeNode('Transpose', ['apart'], ['turned'], { attributes: { perm: [2, 0, 3, 1, 4] } }),
];
const jointConstants = [
  weight('w', [width, 3 * width], ofOddHead),
  weight('wo', [width, width]),
  makeInt64s('five', [1, tokens, 3, heads, size]),
  makeInt64s('three', [1, tokens, width]),
];
const halves = [(3 * width * width) / 2, (width * width) / 2];

const forms: Record<string, () => Form> = {
  'one Reshape of five axes and Gather': () => ({
    nodes: [
      ...joint(),
      ...['q', 'k', 'v'].map((name, at) => makeNode('Gather', ['turned', `at${at}`], [name])),
      ...after(),
    ],
    constants: [
      ...jointConstants,
      ...[0, 1, 2].map((at) => makeTensor(`at${at}`, 'int64', [], BigInt64Array.of(BigInt(at)))),
    ],
    left: halves,
  }),
  'one Reshape of five axes and Slice': () => ({
    nodes: [
      ...joint(),
      ...['q', 'k', 'v'].flatMap((name, at) => [
        makeNode('Slice', ['turned', `from${at}`, `from${at + 1}`, 'from0'], [`${name}1`]),
        makeNode('Squeeze', [`${name}1`, 'from0'], [name]),
      ]),
      ...after(),
    ],
    constants: [...jointConstants, ...[0, 1, 2, 3].map((at) => makeInt64s(`from${at}`, [at]))],
    left: halves,
  }),
  Einsum: () => ({
    nodes: [
      ...['q', 'k', 'v'].map((name) =>
        makeNode('Einsum', ['x', `w${name}`], [name], { attributes: { equation: 'bnd,dhk->bhnk' } }),
      ),
      makeNode('Einsum', ['q', 'k'], ['s'], { attributes: { equation: 'bhqd,bhkd->bhqk' } }),
      makeNode('Softmax', ['s'], ['p'], { attributes: { axis: -1 } }),
      makeNode('Einsum', ['p', 'v'], ['o'], { attributes: { equation: 'bhqk,bhkd->bqhd' } }),
      makeNode('Einsum', ['o', 'wo'], ['y'], { attributes: { equation: 'bqhd,hdf->bqf' } }),
    ],
    constants: [
      ...['wq', 'wk', 'wv'].map((name) => {
        const flat = weight(name, [width, width], ofOddHead);
        return { ...flat, dims: [width, heads, size] };
      }),
      weight('wo', [heads, size, width]),
    ],
    left: new Array(4).fill((width * width) / 2),
  }),
  'heads that share keys and values': () => ({
    nodes: [
      ...['q', 'k', 'v'].flatMap((name) => [
        makeNode('MatMul', ['x', `w${name}`], [`${name}flat`]),
        makeNode('Reshape', [`${name}flat`, name === 'q' ? 'four' : 'pairs'], [`${name}apart`]),
        makeNode('Transpose', [`${name}apart`], [`${name}h`], { attributes: { perm: [0, 2, 1, 3] } }),
      ]),
      makeNode('Identity', ['qh'], ['q']),
      ...['k', 'v'].flatMap((name) => [
        makeNode('Unsqueeze', [`${name}h`, 'second'], [`${name}one`]),
        makeNode('Expand', [`${name}one`, 'twice'], [`${name}two`]),
        makeNode('Reshape', [`${name}two`, 'all'], [name]),
      ]),
      ...after(),
    ],
    constants: [
      weight('wq', [width, width], (at) => Math.floor(at / (2 * size)) === 1),
      ...['wk', 'wv'].map((name) => weight(name, [width, width / 2], (at) => at >= size)),
      weight('wo', [width, width]),
      makeInt64s('four', [1, tokens, heads, size]),
      makeInt64s('pairs', [1, tokens, heads / 2, size]),
      makeInt64s('second', [2]),
      makeInt64s('twice', [1, heads / 2, 2, tokens, size]),
      makeInt64s('all', [1, heads, tokens, size]),
      makeInt64s('three', [1, tokens, width]),
    ],
    left: [width * width, (width * width) / 2, (width * width) / 2, width * width].map((all) => all / 2),
  }),
  'one head, without Reshape': () => ({
    nodes: [
      ...['q', 'k', 'v'].map((name) => makeNode('MatMul', ['x', `w${name}`], [name])),
      makeNode('Transpose', ['k'], ['kt'], { attributes: { perm: [0, 2, 1] } }),
      makeNode('MatMul', ['q', 'kt'], ['s']),
      makeNode('Softmax', ['s'], ['p'], { attributes: { axis: -1 } }),
      makeNode('MatMul', ['p', 'v'], ['o']),
      makeNode('MatMul', ['o', 'wo'], ['y']),
    ],
    constants: [
      ...['wq', 'wk', 'wv'].map((name) => weight(name, [width, width], (at) => at % 2 === 1)),
      weight('wo', [width, width]),
    ],
    left: new Array(4).fill((width * width) / 2),
  }),
  'weights cut from a joint constant': () => ({
    nodes: [
      makeNode('Split', ['w', 'parts'], ['w1', 'w2'], { attributes: { axis: 1 } }),
      makeNode('Identity', ['w1'], ['w1same']),
      makeNode('MatMul', ['x', 'w1same'], ['a']),
      makeNode('Relu', ['a'], ['b']),
      makeNode('Reshape', ['w2', 'square'], ['w2square']),
      makeNode('MatMul', ['b', 'w2square'], ['y']),
    ],
    constants: [
      weight('w', [width, 2 * width], (at) => at < width && at % 2 === 1),
      makeInt64s('parts', [width, width]),
      makeInt64s('square', [width, width]),
    ],
    left: new Array(2).fill((width * width) / 2),
  }),
};

const modelOf = ({ nodes, constants }: Form): Model =>
  smallModel({
    nodes,
    constants,
    inputs: { x: [1, tokens, width] },
    outputs: { y: [1, tokens, width] },
  });

const feeds = { x: { dims: [1, tokens, width], data: seededFloats(seededRandom(9), tokens * width) } };

async function distance(after: Model, before: Model): Promise<number> {
  const [a, b] = [await runSmall(copyOf(after), feeds), await runSmall(before, feeds)];
  return relativeError(a['y']?.data ?? [], b['y']?.data ?? []);
}

describe('structured pruning removes heads and units without weights from', () => {
  test.each(Object.entries(forms))('%s', async (_, form) => {
    const pruned = modelOf(form());
    pruneStructured(
      pruned,
      { strategy: 'structured_l2', compression: 2, exclude: [], seed: 0 },
      new TransformReport(),
    );

    const sizes = [...pruned.graph.initializers.values()].flatMap(({ type, dims }) =>
      type === 'float' ? [count(dims)] : [],
    );
    expect(sizes).toEqual(form().left);
    expect(await distance(pruned, modelOf(form()))).toBeLessThan(1e-6);
  });
});

describe('an Einsum that is a product', () => {
  test('becomes MatMul with the same result, and stores its weight once', async () => {
    const form = forms['Einsum']?.() ?? { nodes: [], constants: [], left: [] };
    const model = modelOf(form);
    unfoldEinsum(model.graph, []);

    expect(model.graph.nodes.filter(({ opType }) => opType === 'MatMul')).toHaveLength(6);
    expect(model.graph.nodes.some(({ opType }) => opType === 'Einsum')).toBe(false);
    expect([...model.graph.initializers.values()].filter(({ type }) => type === 'float')).toHaveLength(4);
    expect(await distance(model, modelOf(form))).toBeLessThan(1e-6);
  });

  test.each(['bnd,dhk', '...d,dk->...k', 'bnd,dhk->bnh', 'bnd,bnk->bndk', 'nnd,dk->nk'])(
    'stays if it is not: %s',
    (equation) => {
      const model = modelOf({
        nodes: [makeNode('Einsum', ['x', 'w'], ['y'], { attributes: { equation } })],
        constants: [weight('w', [width, heads, size])],
        left: [],
      });
      unfoldEinsum(model.graph, []);
      expect(model.graph.nodes.map(({ opType }) => opType)).toEqual(['Einsum']);
    },
  );
});

test('zeroes weights that nodes cut from a constant', () => {
  const model = modelOf(
    forms['weights cut from a joint constant']?.() ?? { nodes: [], constants: [], left: [] },
  );
  const report = new TransformReport();
  pruneMagnitude(model, { strategy: 'magnitude_local', compression: 2, exclude: [] }, report);
  expect(report.layers).toHaveLength(2);
});
