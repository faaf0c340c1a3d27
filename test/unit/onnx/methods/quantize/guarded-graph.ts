import { makeNode } from '../../../../../shared/onnx/model/graph/graph.ts';
import type { NodeProto } from '../../../../../shared/onnx/model/proto/onnx_pb.js';
import { makeTensor } from '../../../../../shared/onnx/model/tensor/tensor.ts';
import { seededFloats } from '../../../../support/onnx/seeded.ts';
import { smallModel } from '../../../../support/onnx/small-model.ts';
import { seededRandom } from '../../../../support/seeded-random.ts';

export const scalar = (name: string, value: number) => makeTensor(name, 'float', [], Float32Array.of(value));

/** Rows of numbers, one of them all zero, as silence and padding are. */
export const rows = seededFloats(seededRandom(5), 8 * 16).map((value, at) => (at >> 4 === 3 ? 0 : value));

export const axes = { attributes: { axes: [-1] } };
const reciprocal = (op: NodeProto[]): NodeProto[] => [
  ...op,
  makeNode('Reciprocal', ['c'], ['r']),
  makeNode('Mul', ['x', 'r'], ['n']),
];
export const length = makeNode('ReduceL2', ['x'], ['l'], axes);

/** Ways to keep a value away from zero by the constant `e`, from `x` to `n`. */
export const guards: Record<string, { e: number; nodes: NodeProto[]; opset?: number }> = {
  'a logarithm': {
    e: 1e-10,
    nodes: [
      makeNode('Mul', ['x', 'x'], ['q']),
      makeNode('Add', ['q', 'e'], ['c']),
      makeNode('Log', ['c'], ['n']),
    ],
  },
  'a clipped length': {
    e: 1e-12,
    nodes: [length, makeNode('Clip', ['l', 'e'], ['c']), makeNode('Div', ['x', 'c'], ['n'])],
  },
  'a clipped length of an old operator set': {
    e: 1,
    opset: 10,
    nodes: [
      length,
      makeNode('Clip', ['l'], ['c'], { attributes: { min: { float: 1e-12 } } }),
      makeNode('Div', ['x', 'c'], ['n']),
    ],
  },
  'a reciprocal of a guard that half precision has': {
    e: 1e-6,
    nodes: reciprocal([length, makeNode('Max', ['l', 'e'], ['c'])]),
  },
  'a negative power': {
    e: 1e-20,
    nodes: [
      makeNode('Mul', ['x', 'x'], ['q']),
      makeNode('ReduceMean', ['q'], ['v'], axes),
      makeNode('Add', ['v', 'e'], ['c']),
      makeNode('Pow', ['c', 'p'], ['r']),
      makeNode('Mul', ['x', 'r'], ['n']),
    ],
  },
  'a guard that is chosen': {
    e: 1e-9,
    nodes: [
      makeNode('Equal', ['x', 'zero'], ['none']),
      makeNode('Where', ['none', 'e', 'x'], ['c']),
      makeNode('Div', ['one', 'c'], ['r']),
      makeNode('Mul', ['r', 'x'], ['n']),
    ],
  },
  'a standardization': {
    e: 1e-12,
    nodes: [
      makeNode('ReduceMean', ['x'], ['m'], axes),
      makeNode('Sub', ['x', 'm'], ['d']),
      makeNode('Mul', ['d', 'd'], ['q']),
      makeNode('ReduceMean', ['q'], ['v'], axes),
      makeNode('Add', ['v', 'e'], ['c']),
      makeNode('Sqrt', ['c'], ['s']),
      makeNode('Div', ['d', 's'], ['n']),
    ],
  },
  'a number that is scaled down and up': {
    e: 1e-10,
    nodes: [makeNode('Mul', ['x', 'e'], ['c']), makeNode('Mul', ['c', 'up'], ['n'])],
  },
};

export const guarded = ({ e, nodes, opset = 17 }: (typeof guards)[string]) =>
  smallModel({
    nodes: [
      ...nodes.map((node) => makeNode(node.opType, node.input, node.output)),
      makeNode('MatMul', ['n', 'w'], ['y']),
    ].map((node, at) => Object.assign(node, { attribute: nodes[at]?.attribute ?? [] })),
    constants: [
      ...[scalar('e', e), scalar('p', -0.5), scalar('zero', 0), scalar('one', 1), scalar('up', 1e10)],
      makeTensor('w', 'float', [16, 16], seededFloats(seededRandom(6), 256)),
    ].filter(({ name }) => name === 'w' || nodes.some(({ input }) => input.includes(name))),
    inputs: { x: [8, 16] },
    outputs: { y: [8, 16] },
    opset,
  });
