import { pruneStructured } from '../../../../../shared/onnx/methods/prune/structured/prune-structured.ts';
import { TransformReport } from '../../../../../shared/onnx/methods/report/report.ts';
import type { Model } from '../../../../../shared/onnx/model/file/model.ts';
import { intAttribute } from '../../../../../shared/onnx/model/graph/attributes.ts';
import { makeNode } from '../../../../../shared/onnx/model/graph/graph.ts';
import { ModelError } from '../../../../../shared/onnx/model/model-error.ts';
import {
  elementCount,
  makeInt64s,
  makeTensor,
  type Tensor,
} from '../../../../../shared/onnx/model/tensor/tensor.ts';
import { floatsOf } from '../../../../../shared/onnx/model/tensor/values.ts';
import { randomBlock, randomFlatten } from '../../../../support/onnx/random-blocks.ts';
import { type Made, NetworkMaker } from '../../../../support/onnx/random-network.ts';
import { seededFloats } from '../../../../support/onnx/seeded.ts';
import { copyOf, smallModel } from '../../../../support/onnx/small-model.ts';
import { seededRandom } from '../../../../support/seeded-random.ts';

const strategies = ['structured_l1', 'structured_l2', 'random'] as const;

export function randomNetwork(seed: number): Model {
  const make = new NetworkMaker(seed);
  let x: Made = { name: 'x', dims: [2, 3, 6, 6] };
  for (let count = 1 + make.below(5); count >= 0; count -= 1) x = randomBlock(make, x);
  x = randomFlatten(make, x);
  if (make.random() < 0.6) x = make.activation(make.linear(x, make.pick([10, 16])));
  return make.finish([2, 3, 6, 6], make.linear(x, 5));
}

/** A decoder: numbers become a small picture of many channels, and that a larger one of few. */
export function randomDecoder(seed: number): Model {
  const random = seededRandom(seed);
  const weight = (name: string, dims: readonly number[]) =>
    makeTensor(name, 'float', dims, seededFloats(random, elementCount(dims), 0.3));
  const group = seed % 3 === 0 ? 2 : 1;
  const isDepthwise = seed % 2 === 0;
  const twice = { strides: [2, 2], kernel_shape: [3, 3] };
  const middle = isDepthwise ? { ...twice, group: 8 } : twice;
  return smallModel({
    nodes: [
      makeNode('Gemm', ['x', 'w', 'b'], ['h'], { name: 'fc', attributes: { transB: 1 } }),
      makeNode('Relu', ['h'], ['hr'], { name: 'relu' }),
      makeNode('Reshape', ['hr', 's'], ['q'], { name: 'picture' }),
      makeNode('ConvTranspose', ['q', 'w1', 'b1'], ['t'], { name: 'up1', attributes: { ...twice, group } }),
      makeNode('Relu', ['t'], ['tr'], { name: 'relu 1' }),
      makeNode('ConvTranspose', ['tr', 'w2'], ['u'], { name: 'up2', attributes: middle }),
      makeNode('ConvTranspose', ['u', 'w3'], ['v'], { name: 'up3', attributes: twice }),
      makeNode('GlobalAveragePool', ['v'], ['g'], { name: 'mean' }),
      makeNode('Flatten', ['g'], ['f'], { name: 'flat' }),
      makeNode('Gemm', ['f', 'last'], ['y'], { name: 'last' }),
    ],
    constants: [
      ...[weight('w', [64, 6]), weight('b', [64]), makeInt64s('s', [-1, 16, 2, 2])],
      ...[weight('w1', [16, 8 / group, 3, 3]), weight('b1', [8])],
      weight('w2', isDepthwise ? [8, 1, 3, 3] : [8, 12, 3, 3]),
      ...[weight('w3', [isDepthwise ? 8 : 12, 4, 3, 3]), weight('last', [4, 5])],
    ],
    inputs: { x: ['n', 6] },
    outputs: { y: ['n', 5] },
  });
}

/** Along which axis a weight takes what comes in. */
function inputAxis(model: Model, weight: string): number | undefined {
  const node = model.graph.nodes.find(({ input }) => input[1] === weight);
  if (node?.opType === 'Conv') return 1;
  if (node?.opType === 'MatMul' || node?.opType === 'ConvTranspose') return 0;
  return node?.opType === 'Gemm' ? intAttribute(node, 'transB', 0) : undefined;
}

/** The places on an axis at which anything of a weight is left, found by its values, which all differ. */
function placesLeft(before: Tensor, after: Tensor, axis: number): Set<number> {
  const behind = elementCount(before.dims.slice(axis + 1));
  const placeOf = new Map(
    [...floatsOf(before)].map((value, at) => [value, Math.floor(at / behind) % before.dims[axis]!]),
  );
  return new Set([...floatsOf(after)].map((value) => placeOf.get(value)!));
}

/** The original with zeros in every weight where the pruned one no longer takes an input. */
export function zeroed(original: Model, pruned: Model): Model {
  const model = copyOf(original);
  for (const tensor of [...model.graph.initializers.values()]) {
    const axis = inputAxis(original, tensor.name);
    const node = original.graph.nodes.find(({ input }) => input[1] === tensor.name);
    const after = pruned.graph.nodes.find(({ name }) => name === node?.name)?.input[1];
    if (axis === undefined) continue;
    const left = placesLeft(tensor, pruned.graph.initializer(after!)!, axis);
    const behind = elementCount(tensor.dims.slice(axis + 1));
    const values = floatsOf(tensor).map((value, at) =>
      left.has(Math.floor(at / behind) % tensor.dims[axis]!) ? value : 0,
    );
    model.graph.put(makeTensor(tensor.name, 'float', tensor.dims, values));
  }
  return model;
}

/** Prunes by the compression, or the largest one that can be reached. */
export function prune(model: Model, seed: number, compression: number): TransformReport | undefined {
  const report = new TransformReport();
  const strategy = strategies[seed % strategies.length]!;
  const copy = copyOf(model);
  try {
    pruneStructured(model, { strategy, compression, exclude: [], seed }, report);
    return report;
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    const reachable = Number(/the maximum is (\d+)/.exec(error.message)?.[1] ?? 1);
    if (reachable < 2) return undefined;
    model.graph.nodes = copy.graph.nodes;
    for (const tensor of copy.graph.initializers.values()) model.graph.put(tensor);
    return prune(model, seed, reachable);
  }
}

export interface Family {
  name: string;
  make: (seed: number) => Model;
  dims: readonly number[];
  /** The part of them in which there must be something to remove. */
  least: number;
}
