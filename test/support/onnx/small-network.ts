import type { Model } from '../../../shared/onnx/model/file/model.ts';
import { makeNode } from '../../../shared/onnx/model/graph/graph.ts';
import { makeTensor } from '../../../shared/onnx/model/tensor/tensor.ts';
import { seededRandom } from '../seeded-random.ts';
import { seededFloats } from './seeded.ts';
import { smallModel } from './small-model.ts';

/** A convolutional classifier of 8 × 8 pictures with 4 classes, weights by a seed: large enough to be pruned. */
export function smallNetwork(seed = 1): Model {
  const random = seededRandom(seed);
  const floats = (name: string, dims: number[], scale: number) =>
    makeTensor(
      name,
      'float',
      dims,
      seededFloats(
        random,
        dims.reduce((product, dim) => product * dim, 1),
        scale,
      ),
    );
  return smallModel({
    nodes: [
      makeNode('Conv', ['x', 'w1', 'b1'], ['c1'], { name: 'first', attributes: { pads: [1, 1, 1, 1] } }),
      makeNode('Relu', ['c1'], ['r1'], { name: 'act' }),
      makeNode('Conv', ['r1', 'w2'], ['c2'], { name: 'second', attributes: { pads: [1, 1, 1, 1] } }),
      makeNode('GlobalAveragePool', ['c2'], ['p'], { name: 'pool' }),
      makeNode('Flatten', ['p'], ['f'], { name: 'flat' }),
      makeNode('Gemm', ['f', 'w3', 'b3'], ['y'], { name: 'head' }),
    ],
    constants: [
      floats('w1', [16, 3, 3, 3], 0.5),
      floats('b1', [16], 0.5),
      floats('w2', [32, 16, 3, 3], 0.2),
      floats('w3', [32, 4], 1),
      floats('b3', [4], 0.1),
    ],
    inputs: { x: ['N', 3, 8, 8] },
    outputs: { y: ['N', 4] },
  });
}
