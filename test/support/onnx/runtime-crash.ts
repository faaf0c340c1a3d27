import type { Model } from '../../../shared/onnx/model/file/model.ts';
import { makeNode } from '../../../shared/onnx/model/graph/graph.ts';
import { makeTensor } from '../../../shared/onnx/model/tensor/tensor.ts';
import { seededRandom } from '../seeded-random.ts';
import { seededFloats } from './seeded.ts';
import { smallModel } from './small-model.ts';

/** Ways to swap axes before a product in which ONNX Runtime 1.30 and 1.32 crash on x86-64, in half precision. */
export const swaps = [
  { perm: [1, 0, 2], dims: [4, 8, 32] },
  { perm: [1, 2, 0], dims: [32, 4, 8] },
  { perm: [1, 2, 0, 3], dims: [2, 4, 8, 32] },
  { perm: [1, 0, 2], dims: ['n', 't', 32] },
];

/** Swaps the first two axes before a product, as encoders and recurrent layers of PyTorch do. */
export const swappedProduct = ({ perm, dims }: (typeof swaps)[number]): Model =>
  smallModel({
    nodes: [
      makeNode('Transpose', ['x'], ['t'], { name: 'swap', attributes: { perm } }),
      makeNode('MatMul', ['t', 'w'], ['m'], { name: 'product' }),
      makeNode('LeakyRelu', ['m'], ['y'], { name: 'last' }),
    ],
    constants: [makeTensor('w', 'float', [32, 96], seededFloats(seededRandom(1), 32 * 96, 0.1))],
    inputs: { x: dims },
    outputs: { y: perm.map((axis, at) => (at === perm.length - 1 ? 96 : (dims[axis] ?? 0))) },
  });

/** The same by two nodes, of which neither moves the first axis alone so; the runtime joins them. */
export const twiceSwappedProduct = (): Model =>
  smallModel({
    nodes: [
      makeNode('Transpose', ['x'], ['s'], { name: 'first', attributes: { perm: [0, 2, 1] } }),
      makeNode('Transpose', ['s'], ['t'], { name: 'second', attributes: { perm: [2, 0, 1] } }),
      makeNode('MatMul', ['t', 'w'], ['y'], { name: 'product' }),
    ],
    constants: [makeTensor('w', 'float', [32, 96], seededFloats(seededRandom(1), 32 * 96, 0.1))],
    inputs: { x: [4, 8, 32] },
    outputs: { y: [8, 4, 96] },
  });
