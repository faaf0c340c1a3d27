import { typedArray } from '../../measure/session/feed-type.ts';
import {
  floatAttribute,
  hasAttribute,
  intAttribute,
  intsAttribute,
  removeAttribute,
  setAttribute,
  stringAttribute,
} from '../../model/graph/attributes.ts';
import { type Graph, makeNode, type Names } from '../../model/graph/graph.ts';
import type { Value } from '../../model/infer/value.ts';
import type { NodeProto } from '../../model/proto/onnx_pb.js';
import type { DataTypeName } from '../../model/tensor/data-type.ts';
import { makeInt64s, makeTensor, type Tensor } from '../../model/tensor/tensor.ts';

/** A node that is converted to a later opset. */
export interface Raising {
  node: NodeProto;
  graph: Graph;
  names: Names;
  /** Return the type and shape of a value, as far as they are known. */
  value(name: string): Value | undefined;
}

const of = ({ node }: Raising, suffix: string): string => `${node.output[0] ?? node.name}_${suffix}`;

/** Return the nodes that replace a node, or a string with the reason why a conversion is not possible. */
type Change = (raising: Raising) => readonly NodeProto[] | string;

/** Turn an integer list attribute into an input. */
const moved =
  (attribute: string, position: number): Change =>
  (raising) => {
    const { node } = raising;
    const numbers = intsAttribute(node, attribute);
    if (hasAttribute(node, attribute) && numbers !== undefined)
      putInput(
        node,
        position,
        constant(raising, of(raising, attribute), (name) => makeInt64s(name, numbers)),
      );
    removeAttribute(node, attribute);
    return [node];
  };

/** Set the input at a position. Fill missing inputs before it with empty names. */
function putInput(node: NodeProto, position: number, name: string): void {
  while (node.input.length < position) node.input.push('');
  node.input[position] = name;
}

/** Add a constant to the graph. Return its name. */
function constant({ graph, names }: Raising, name: string, make: (name: string) => Tensor): string {
  return graph.put(make(names.make(name))).name;
}

const clip: Change = (raising) => {
  movedNumber(raising, 'min', 1);
  movedNumber(raising, 'max', 2);
  return [raising.node];
};

/** Turn a number attribute into an input with the type of the node's first input. */
function movedNumber(raising: Raising, attribute: string, position: number): void {
  const { node } = raising;
  if (!hasAttribute(node, attribute)) return;
  const number = floatAttribute(node, attribute, 0);
  const known = raising.value(node.input[0] ?? '')?.type;
  const type: DataTypeName = known === 'double' || known === 'float16' ? known : 'float';
  putInput(
    node,
    position,
    constant(raising, of(raising, attribute), (name) =>
      makeTensor(name, type, [], typedArray(type, [number])),
    ),
  );
  removeAttribute(node, attribute);
}

const slice: Change = (raising) => {
  const { node } = raising;
  const [starts, ends, axes] = ['starts', 'ends', 'axes'].map((name) => intsAttribute(node, name));
  if (starts === undefined || ends === undefined) return 'has no starts or ends';
  for (const [at, [name, numbers]] of Object.entries({ starts, ends, axes }).entries()) {
    if (numbers === undefined || !hasAttribute(node, name)) continue;
    putInput(
      node,
      at + 1,
      constant(raising, of(raising, name), (called) => makeInt64s(called, numbers)),
    );
    removeAttribute(node, name);
  }
  return [node];
};

const topK: Change = (raising) => {
  const { node } = raising;
  const k = intAttribute(node, 'k', 1);
  putInput(
    node,
    1,
    constant(raising, of(raising, 'k'), (name) => makeInt64s(name, [k])),
  );
  removeAttribute(node, 'k');
  return [node];
};

const pad: Change = (raising) => {
  const { node } = raising;
  if (!hasAttribute(node, 'pads')) return 'has no pads';
  moved('pads', 1)(raising);
  movedNumber(raising, 'value', 2);
  return [node];
};

/** Remove the ratio of a Dropout. It has no effect in inference. */
const dropout: Change = ({ node }) => {
  removeAttribute(node, 'ratio');
  removeAttribute(node, 'is_test');
  return [node];
};

const batchNorm: Change = ({ node }) => {
  if (intAttribute(node, 'spatial', 1) !== 1) return 'normalizes each position separately (spatial = 0)';
  if (node.output.slice(1).some((name) => name !== '')) return 'is in training mode';
  for (const name of ['spatial', 'is_test', 'consumed_inputs']) removeAttribute(node, name);
  node.output = node.output.slice(0, 1);
  return [node];
};

/** Turn the `scales` attribute of an Upsample into an input. */
const scalesInput: Change = (raising) => {
  const { node } = raising;
  const scales = node.attribute.find(({ name }) => name === 'scales')?.floats;
  if (scales === undefined || scales.length === 0) return 'has no scales';
  putInput(
    node,
    1,
    constant(raising, of(raising, 'scales'), (name) =>
      makeTensor(name, 'float', [scales.length], Float32Array.from(scales)),
    ),
  );
  removeAttribute(node, 'scales');
  return [node];
};

/** Convert Upsample, and Resize of opset 10, to the Resize of opset 11. The scales move to the third input. */
const resize: Change = ({ node }) => {
  const [x = '', scales = ''] = node.input;
  asymmetric(node);
  node.input = [x, '', scales];
  return [node];
};

/**
 * Set the attributes that describe the only behaviour before opset 11: asymmetric coordinates, and floor for
 * nearest.
 */
function asymmetric(node: NodeProto): void {
  const mode = stringAttribute(node, 'mode', 'nearest');
  node.opType = 'Resize';
  setAttribute(node, 'mode', mode === 'bilinear' ? 'linear' : mode);
  setAttribute(node, 'coordinate_transformation_mode', 'asymmetric');
  if (mode === 'nearest') setAttribute(node, 'nearest_mode', 'floor');
}

/**
 * Convert a Softmax that flattens all axes from `axis` on. It becomes Flatten, Softmax over the last axis, and
 * Reshape.
 */
const flatSoftmax: Change = (raising) => {
  const { node, names } = raising;
  const axis = intAttribute(node, 'axis', 1);
  const rank = raising.value(node.input[0] ?? '')?.dims?.length;
  const isLast = axis === -1 || (rank !== undefined && axis === rank - 1);
  setAttribute(node, 'axis', -1);
  if (isLast) return [node];
  const [x = ''] = node.input;
  const [y = ''] = node.output;
  const [shape, flat, soft] = ['shape', 'flat', 'soft'].map((suffix) => names.make(`${y}_${suffix}`));
  if (shape === undefined || flat === undefined || soft === undefined) return 'has no output';
  node.input = [flat];
  node.output = [soft];
  return [
    makeNode('Shape', [x], [shape], { name: shape }),
    makeNode('Flatten', [x], [flat], { name: flat, attributes: { axis } }),
    node,
    makeNode('Reshape', [soft, shape], [y], { name: names.make(`${y}_unflat`) }),
  ];
};

const roiAlign: Change = ({ node }) => {
  setAttribute(node, 'coordinate_transformation_mode', 'output_half_pixel');
  return [node];
};

const renamed =
  (to: string): Change =>
  ({ node }) => {
    node.opType = to;
    return [node];
  };

/** Convert operators that require equal shapes, or broadcast the second input along an axis. Refuse the latter. */
const spread: Change = ({ node }) => {
  if (intAttribute(node, 'broadcast', 0) === 1 && hasAttribute(node, 'axis'))
    return 'broadcasts its second input along an axis';
  for (const name of ['broadcast', 'axis', 'consumed_inputs']) removeAttribute(node, name);
  return [node];
};

const reshape: Change = (raising) => {
  removeAttribute(raising.node, 'consumed_inputs');
  return hasAttribute(raising.node, 'shape') ? moved('shape', 1)(raising) : [raising.node];
};

const scan: Change = () => 'has its own batch input';

const table = (names: string, change: Change): Record<string, Change> =>
  Object.fromEntries(names.split(' ').map((name) => [name, change]));

/**
 * Operators whose meaning changed in an opset, oldest opset first. Every other operator of those opsets kept its
 * meaning in later ones, or had an additional attribute without effect in inference.
 */
export const operatorChanges: readonly (readonly [number, Readonly<Record<string, Change>>])[] = [
  [5, { Reshape: reshape }],
  [
    7,
    {
      ...table('Add Sub Mul Div Pow And Or Xor Greater Less Equal PRelu', spread),
      Gemm: spread,
      Dropout: dropout,
    },
  ],
  [9, { Upsample: scalesInput, BatchNormalization: batchNorm, Scan: scan }],
  [10, { Slice: slice, TopK: topK, Upsample: renamed('Resize') }],
  [11, { Resize: resize, Clip: clip, Pad: pad, Scatter: renamed('ScatterElements') }],
  [12, { Dropout: dropout }],
  [
    13,
    {
      ...table('Softmax LogSoftmax Hardmax', flatSoftmax),
      ...{ ReduceSum: moved('axes', 1), Squeeze: moved('axes', 1), Unsqueeze: moved('axes', 1) },
      Split: moved('split', 1),
    },
  ],
  [14, { BatchNormalization: batchNorm }],
  [16, { RoiAlign: roiAlign }],
];
