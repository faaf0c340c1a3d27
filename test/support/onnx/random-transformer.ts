import type { Model } from '../../../shared/onnx/model/file/model.ts';
import { type Made, NetworkMaker } from './random-network.ts';

const [batch, length, width, heads] = [2, 5, 16, 4];
const perHead = width / heads;

/** Networks of odd seeds take any batch and length. */
const openNetworks = new WeakSet<NetworkMaker>();
const isOpen = (make: NetworkMaker): boolean => openNetworks.has(make);

function layerNorm(make: NetworkMaker, x: Made): Made {
  return make.same(x, 'LayerNormalization', [make.weight([width], 1.5, 0.5), make.weight([width], 0.5)], {
    axis: -1,
  });
}

/** Batch and length as they are at run time, then fixed sizes: the shape that exporters compute for `view`. */
function computedShape(make: NetworkMaker, of: string, sizes: readonly number[]): string {
  const [shape = ''] = make.node('Shape', [of]);
  if (make.random() < 0.5) {
    const [first = ''] = make.node('Slice', [
      shape,
      make.integers([0]),
      make.integers([2]),
      make.integers([0]),
    ]);
    return make.node('Concat', [first, make.integers(sizes)], { axis: 0 })[0] ?? '';
  }
  const parts = [0, 1].map((at) => make.node('Gather', [shape, make.integers([at])], { axis: 0 })[0] ?? '');
  return make.node('Concat', [...parts, ...sizes.map((size) => make.integers([size]))], { axis: 0 })[0] ?? '';
}

/** Shape of a Reshape in one of the ways in which it is written. */
function shapeFor(make: NetworkMaker, of: string, sizes: readonly number[], hole: number): string {
  switch (isOpen(make) ? 1 + make.below(3) : make.below(4)) {
    case 0:
      return make.integers([batch, length, ...sizes]);
    case 1:
      return make.integers([0, 0, ...sizes.with(hole, -1)]);
    case 2:
      return computedShape(make, of, sizes.with(hole, -1));
    default:
      return computedShape(make, of, sizes);
  }
}

/** From [batch, length, width] to [batch, heads, …] in the order of `perm`. */
function apart(make: NetworkMaker, x: Made, perm: readonly number[]): string {
  const [name = ''] = make.node('Reshape', [x.name, shapeFor(make, x.name, [heads, perHead], 0)]);
  return make.node('Transpose', [name], { perm })[0] ?? '';
}

/** Queries, keys and values: from three products, or from one that is split. */
function projections(make: NetworkMaker, x: Made): Made[] {
  if (make.random() < 0.6) return [0, 1, 2].map(() => make.linear(x, width));
  const all = make.linear(x, 3 * width);
  const sizes = make.integers([width, width, width]);
  return make.node('Split', [all.name, sizes], { axis: 2 }, 3).map((name) => ({ name, dims: x.dims }));
}

function attention(make: NetworkMaker, x: Made): Made {
  const [query = x, key = x, value = x] = projections(make, x);
  const keys = apart(make, key, [0, 2, 3, 1]);
  const [products = ''] = make.node('MatMul', [apart(make, query, [0, 2, 1, 3]), keys]);
  const [scaled = ''] = make.node('Mul', [products, make.weight([1], 0.6, 0.4)]);
  const [masked = ''] = make.node('Add', [
    scaled,
    make.weight(isOpen(make) ? [1, 1, 1, 1] : [batch, 1, 1, length], 1),
  ]);
  const [shares = ''] = make.node('Softmax', [masked], { axis: -1 });
  const [context = ''] = make.node('MatMul', [shares, apart(make, value, [0, 2, 1, 3])]);
  const [together = ''] = make.node('Transpose', [context], { perm: [0, 2, 1, 3] });
  const [name = ''] = make.node('Reshape', [together, shapeFor(make, together, [width], 0)]);
  return make.linear({ name, dims: x.dims }, width);
}

/** A random transformer encoder of one or two layers, as PyTorch and Hugging Face export them. */
export function randomTransformer(seed: number): Model {
  const make = new NetworkMaker(seed);
  if (seed % 2 === 1) openNetworks.add(make);
  let x: Made = { name: 'x', dims: [batch, length, width] };
  for (let layers = 1 + make.below(2); layers > 0; layers -= 1) {
    x = layerNorm(make, make.same(x, 'Add', [attention(make, x).name]));
    const hidden = make.same(make.linear(x, make.pick([24, 32])), make.pick(['Relu', 'Tanh', 'Sigmoid']));
    x = layerNorm(make, make.same(x, 'Add', [make.linear(hidden, width).name]));
  }
  const [mean = ''] = make.node('ReduceMean', [x.name, make.integers([1])], { keepdims: 0 });
  const input = isOpen(make) ? ['batch', 'length', width] : [batch, length, width];
  return make.finish(input, make.linear({ name: mean, dims: [batch, width] }, 5), [input[0] ?? batch, 5]);
}
