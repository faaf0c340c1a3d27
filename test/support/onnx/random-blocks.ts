import type { Made, NetworkMaker } from './random-network.ts';

type Block = (make: NetworkMaker, x: Made) => Made;

const channelsOf = (x: Made): number => x.dims[1] ?? 0;

const plain: Block = (make, x) => {
  const y = make.conv(x, make.pick([8, 12, 16]));
  return make.activation(make.random() < 0.5 ? make.batchNorm(y) : y);
};

const residual: Block = (make, x) => {
  const inner = make.activation(make.conv(x, make.pick([4, 8, 10])));
  const y = make.conv(inner, channelsOf(x));
  const [name = ''] =
    make.random() < 0.5 ? make.node('Add', [x.name, y.name]) : make.node('Sum', [y.name, x.name]);
  return { name, dims: x.dims };
};

const concatenating: Block = (make, x) => {
  const a = make.activation(make.conv(x, make.pick([4, 6])));
  const b = make.random() < 0.4 ? x : make.conv(x, make.pick([5, 8]));
  const [name = ''] = make.node('Concat', [a.name, b.name], { axis: make.pick([1, -3]) });
  return { name, dims: x.dims.with(1, channelsOf(a) + channelsOf(b)) };
};

const depthwise: Block = (make, x) => {
  const wide = make.conv(x, make.pick([8, 12]), { kernel: 1 });
  const y = make.conv(make.activation(wide), channelsOf(wide) * make.pick([1, 2]), {
    groups: channelsOf(wide),
    kernel: 3,
  });
  return make.conv(make.activation(make.batchNorm(y)), make.pick([8, 12]), { kernel: 1 });
};

const grouped: Block = (make, x) => {
  const wide = make.conv(x, 12);
  return make.activation(make.conv(wide, 16, { groups: make.pick([2, 4]) }));
};

const splitting: Block = (make, x) => {
  const wide = make.conv(x, 12);
  const sizes = make.pick([
    [6, 6],
    [4, 8],
    [2, 4, 6],
  ]);
  const isEven = sizes.length === 2 && sizes[0] === sizes[1] && make.random() < 0.5;
  const pieces = make
    .node(
      'Split',
      isEven ? [wide.name] : [wide.name, make.integers(sizes)],
      isEven ? { axis: 1, num_outputs: 2 } : { axis: 1 },
      sizes.length,
    )
    .map((name, at): Made => ({ name, dims: wide.dims.with(1, sizes[at] ?? 0) }));
  const [first = wide, ...others] = pieces;
  const changed = make.activation(make.conv(first, channelsOf(first)));
  const [name = ''] = make.node('Concat', [...others.map((piece) => piece.name), changed.name], { axis: 1 });
  return { name, dims: wide.dims };
};

const slicing: Block = (make, x) => {
  const wide = make.activation(make.conv(x, 12));
  const cut = make.pick([4, 6, 7]);
  const part = (start: number, end: number): string =>
    make.node('Slice', [wide.name, make.integers([start]), make.integers([end]), make.integers([1])])[0] ??
    '';
  const head: Made = { name: part(0, cut), dims: wide.dims.with(1, cut) };
  const tail: Made = { name: part(cut, 2 ** 31), dims: wide.dims.with(1, 12 - cut) };
  const [name = ''] = make.node('Concat', [make.conv(head, 5).name, tail.name], { axis: 1 });
  return { name, dims: wide.dims.with(1, 17 - cut) };
};

const squeezeAndExcite: Block = (make, x) => {
  const y = make.conv(x, make.pick([8, 12]));
  const pooled = { ...make.same(y, 'GlobalAveragePool'), dims: [2, channelsOf(y), 1, 1] };
  const squeezed = make.same(make.conv(pooled, 4, { kernel: 1 }), 'Relu');
  const gate = make.same(make.conv(squeezed, channelsOf(y), { kernel: 1 }), 'Sigmoid');
  return make.same(y, 'Mul', [gate.name]);
};

const shuffle: Block = (make, x) => {
  const wide = make.conv(x, 12, { kernel: 1 });
  const groups = make.pick([2, 3]);
  const [height = 0, width = 0] = wide.dims.slice(2);
  const [apart = ''] = make.node('Reshape', [
    wide.name,
    make.integers([2, groups, 12 / groups, height, width]),
  ]);
  const [turned = ''] = make.node('Transpose', [apart], { perm: [0, 2, 1, 3, 4] });
  const [name = ''] = make.node('Reshape', [
    turned,
    make.integers(
      make.pick([
        [0, 12, height, width],
        [2, -1, height, width],
      ]),
    ),
  ]);
  return make.conv({ name, dims: wide.dims }, 12, { groups: make.pick([1, groups, 12]) });
};

/** GroupNorm as PyTorch exports it: InstanceNormalization over groups, then a factor and an offset. */
const groupNorm: Block = (make, x) => {
  const y = make.conv(x, 12);
  const groups = make.pick([3, 4, 6]);
  const [apart = ''] = make.node('Reshape', [y.name, make.integers([0, groups, -1])]);
  const [normal = ''] = make.node('InstanceNormalization', [
    apart,
    make.weight([groups], 1.5, 0.5),
    make.weight([groups], 0.5),
  ]);
  const [shape = ''] = make.node('Shape', [y.name]);
  const [name = ''] = make.node('Reshape', [normal, shape]);
  const scaled = make.same({ name, dims: y.dims }, 'Mul', [make.weight([12, 1, 1], 1.5, 0.5)]);
  return make.activation(make.same(scaled, 'Add', [make.weight([1, 12, 1, 1], 0.5)]));
};

const scaling: Block = (make, x) => {
  const y = make.conv(x, 10);
  return make.random() < 0.5
    ? make.same(y, 'PRelu', [make.weight([10, 1, 1], 0.3)])
    : make.same(y, 'Mul', [make.weight([1, 10, 1, 1], 1)]);
};

const pooling: Block = (make, x) => {
  const [height = 0, width = 0] = x.dims.slice(2);
  if (height < 4) return plain(make, x);
  const [name = ''] = make.node(make.pick(['MaxPool', 'AveragePool']), [x.name], {
    kernel_shape: [2, 2],
    strides: [2, 2],
  });
  return { name, dims: [...x.dims.slice(0, 2), Math.floor(height / 2), Math.floor(width / 2)] };
};

/** A convolution that two branches share. */
const shared: Block = (make, x) => {
  const y = make.conv(x, 8);
  const [weight, bias] = [make.weight([8, 8, 1, 1], 0.6), make.weight([8], 0.5)];
  const once = make.same(make.same(y, 'Conv', [weight, bias]), 'Relu');
  const twice = make.same(once, 'Conv', [weight, bias]);
  return make.same(twice, 'Add', [make.same(once, 'Tanh').name]);
};

const blocks: readonly Block[] = [
  plain,
  residual,
  concatenating,
  depthwise,
  grouped,
  splitting,
  slicing,
  squeezeAndExcite,
  shuffle,
  groupNorm,
  scaling,
  pooling,
  shared,
];

/** One block of a random convolutional network. */
export const randomBlock: Block = (make, x) => make.pick(blocks)(make, x);

const isolated = (make: NetworkMaker, x: Made, shape: string, features: number): Made => ({
  name: make.node('Reshape', [x.name, shape])[0] ?? '',
  dims: [2, features],
});

/** From [2, C, H, W] to [2, features], in one of the ways that exporters write it. */
export const randomFlatten: Block = (make, x) => {
  const features = x.dims.slice(1).reduce((product, dim) => product * dim, 1);
  const computed = (last: number): string => {
    const [shape = ''] = make.node('Shape', [x.name]);
    const [batch = ''] = make.node('Gather', [shape, make.integers([0])], { axis: 0 });
    return make.node('Concat', [batch, make.integers([last])], { axis: 0 })[0] ?? '';
  };
  switch (make.below(6)) {
    case 0: {
      const pooled = make.node('GlobalAveragePool', [x.name])[0] ?? '';
      return { name: make.node('Flatten', [pooled])[0] ?? '', dims: [2, channelsOf(x)] };
    }
    case 1:
      return {
        name: make.node('ReduceMean', [x.name, make.integers([2, 3])], { keepdims: 0 })[0] ?? '',
        dims: [2, channelsOf(x)],
      };
    case 2:
      return isolated(
        make,
        x,
        make.integers(
          make.pick([
            [2, -1],
            [0, features],
            [-1, features],
          ]),
        ),
        features,
      );
    case 3:
      return isolated(make, x, computed(-1), features);
    case 4:
      return isolated(make, x, computed(features), features);
    default:
      return { name: make.node('Flatten', [x.name], { axis: 1 })[0] ?? '', dims: [2, features] };
  }
};
