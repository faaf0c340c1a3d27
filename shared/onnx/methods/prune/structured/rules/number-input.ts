import type { NodeProto } from '../../../../model/proto/onnx_pb.js';
import { makeInt64s, makeTensor } from '../../../../model/tensor/tensor.ts';
import { layerName } from '../../layer-name.ts';
import type { DependencyGraph } from '../dependency-graph.ts';

/** Gives a node whole numbers of its own at an input, so that others which use the former constant keep it. */
export function setNumbers(
  { model, names }: DependencyGraph,
  node: NodeProto,
  position: number,
  numbers: readonly number[],
): void {
  const former = model.graph.initializers.get(node.input[position] ?? '');
  const name = names.make(`${layerName(node)}_input_${position}`);
  model.graph.put(
    former?.type === 'int32'
      ? makeTensor(name, 'int32', [numbers.length], Int32Array.from(numbers))
      : makeInt64s(name, numbers),
  );
  while (node.input.length < position) node.input.push('');
  node.input[position] = name;
}
