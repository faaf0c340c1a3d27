import type { Model } from '../../../shared/onnx/model/file/model.ts';
import { makeNode } from '../../../shared/onnx/model/graph/graph.ts';
import { makeTensor } from '../../../shared/onnx/model/tensor/tensor.ts';
import { seededRandom } from '../seeded-random.ts';
import { seededFloats } from './seeded.ts';
import { smallModel } from './small-model.ts';

/**
 * Swaps the first two axes before a product, as PyTorch's encoders do. In half precision ONNX Runtime 1.30 and 1.32
 * crash when they open it with all optimizations of graphs on x86-64.
 */
export const swappedProduct = (): Model =>
  smallModel({
    nodes: [
      makeNode('Transpose', ['x'], ['t'], { name: 'swap', attributes: { perm: [1, 0, 2] } }),
      makeNode('MatMul', ['t', 'w'], ['y'], { name: 'product' }),
    ],
    constants: [makeTensor('w', 'float', [32, 96], seededFloats(seededRandom(1), 32 * 96, 0.1))],
    inputs: { x: [4, 8, 32] },
    outputs: { y: [8, 4, 96] },
  });
