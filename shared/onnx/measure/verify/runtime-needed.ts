import { type Model, microsoft } from '../../model/file/model.ts';
import { intAttribute } from '../../model/graph/attributes.ts';
import type { NodeProto } from '../../model/proto/onnx_pb.js';

type Version = readonly [major: number, minor: number];

/** First release of ONNX Runtime for each ONNX opset, from its compatibility table, which ends here. */
const opsetReleases: readonly (readonly [opset: number, release: Version])[] = [
  [11, [1, 0]],
  [12, [1, 3]],
  [13, [1, 6]],
  [14, [1, 8]],
  [15, [1, 9]],
  [16, [1, 11]],
  [17, [1, 12]],
  [18, [1, 14]],
  [19, [1, 15]],
  [20, [1, 17]],
  [21, [1, 18]],
];

const later = (a: Version, b: Version): Version => (a[0] > b[0] || (a[0] === b[0] && a[1] >= b[1]) ? a : b);

/** First release of ONNX Runtime that has an operator of its own domain used by the methods, if later than 1.0. */
function operatorRelease(node: NodeProto): Version {
  switch (node.opType) {
    case 'Attention':
    case 'MultiHeadAttention':
      // 1.20 first accepts a bias of scores that is not given for each head.
      return (node.input[5] ?? '') === '' ? [1, 14] : [1, 20];
    case 'DynamicQuantizeLSTM':
      return [1, 3];
    case 'MatMulNBits':
      // 8 bits require a later release than 4 bits.
      return intAttribute(node, 'bits', 4) === 8 ? [1, 22] : [1, 17];
    case 'GatherBlockQuantized':
      // 1.23 added the attribute `bits`, and support for bytes with zero points.
      return [1, 23];
    default:
      return [1, 0];
  }
}

/** Return the lowest version of ONNX Runtime that runs a model; null if its opset is newer than the table. */
export function runtimeNeeded(model: Model): string | null {
  const opset = model.opset();
  const release = opsetReleases.find(([known]) => opset <= known)?.[1];
  if (release === undefined) return null;
  let needed = release;
  for (const graph of model.graph.all()) {
    for (const node of graph.nodes) {
      if (node.domain === microsoft) needed = later(needed, operatorRelease(node));
    }
  }
  return needed.join('.');
}
