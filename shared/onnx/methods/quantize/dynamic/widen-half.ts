import { type Graph, isExcluded, makeNode, Names } from '../../../model/graph/graph.ts';
import type { NodeProto } from '../../../model/proto/onnx_pb.js';
import { dataTypes } from '../../../model/tensor/data-type.ts';
import { lazyTensor, type Tensor } from '../../../model/tensor/tensor.ts';
import { floatsOf } from '../../../model/tensor/values.ts';
import { ownedConstant } from '../weight-store.ts';

/** Input position of the weight. */
const weightAt: Readonly<Record<string, number>> = { MatMul: 1, Gemm: 1, Gather: 0 };

/**
 * Let products and tables with weights in half precision compute in float32, with Casts around them, because
 * activations are quantized from float32 only. Control flow bodies are included.
 */
export function widenHalf(
  root: Graph,
  exclude: readonly string[],
  types: readonly HalfType[] = ['float16', 'bfloat16'],
): void {
  const names = new Names(root);
  const widened = new Map<Tensor, string>();
  for (const graph of root.all()) {
    graph.nodes = graph.nodes.flatMap((node) => {
      const at = node.domain === '' ? weightAt[node.opType] : undefined;
      const weight = at === undefined ? undefined : ownedConstant(graph, node.input[at])?.tensor;
      const type = types.find((one) => one === weight?.type);
      return type === undefined || isExcluded(node, exclude)
        ? [node]
        : withCasts(graph, node, { names, widened, type });
    });
  }
}

type HalfType = 'float16' | 'bfloat16';

interface Widening {
  names: Names;
  /** Names of the widened constants. */
  widened: Map<Tensor, string>;
  /** Type of the values around the node. */
  type: HalfType;
}

function withCasts(graph: Graph, node: NodeProto, { names, widened, type }: Widening): NodeProto[] {
  const cast = (from: string, to: string, target: 'float' | HalfType): NodeProto =>
    makeNode('Cast', [from], [to], { name: to, attributes: { to: dataTypes[target] } });
  const before: NodeProto[] = [];
  node.input = node.input.map((name, at) => {
    if (name === '' || (node.opType === 'Gather' && at > 0)) return name;
    const constant = ownedConstant(graph, name);
    if (constant === undefined) {
      const made = names.make(`${name}_float32`);
      before.push(cast(name, made, 'float'));
      return made;
    }
    const { owner, tensor } = constant;
    const known = widened.get(tensor) ?? names.make(`${name}_float32`);
    if (!widened.has(tensor)) owner.put(lazyTensor(known, 'float', tensor.dims, () => floatsOf(tensor)));
    widened.set(tensor, known);
    return known;
  });
  const [output = ''] = node.output;
  const wide = names.make(`${output}_float32`);
  node.output[0] = wide;
  return [...before, node, cast(wide, output, type)];
}
