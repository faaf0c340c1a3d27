import { create } from '@bufbuild/protobuf';
import { type NodeProto, NodeProtoSchema } from '../../../../model/proto/onnx_pb.js';
import { integersOf } from '../../../../model/tensor/values.ts';
import { setNumbers } from './number-input.ts';
import type { RuleContext } from './rule-context.ts';

type Setter = (value: number) => void;

/** Sets an element of a constant that a node takes; the constant is copied. */
function inConstant(
  { dependencies }: RuleContext,
  owner: NodeProto,
  position: number,
  at: number,
): Setter | undefined {
  const tensor = dependencies.constant(owner.input[position]);
  if (tensor === undefined || tensor.dims.length !== 1) return undefined;
  return (value) => {
    const now = dependencies.constant(owner.input[position]) ?? tensor;
    setNumbers(dependencies, owner, position, integersOf(now).with(at, value));
  };
}

/** Sets an element in the part that a Concat puts into a shape. The Concat is copied where others use it, too. */
function inPart(context: RuleContext, concat: NodeProto, element: number): Setter | undefined {
  const { dependencies, node } = context;
  let start = 0;
  for (const [position, part] of concat.input.entries()) {
    const length = dependencies.value(part)?.elements?.length ?? dependencies.dims(part)?.[0];
    if (typeof length !== 'number') return undefined;
    if (element >= start + length) {
      start += length;
      continue;
    }
    if (dependencies.index.soleUse(concat.output[0] ?? '') !== undefined)
      return inConstant(context, concat, position, element - start);
    const copy = create(NodeProtoSchema, {
      ...concat,
      name: dependencies.names.make(`${concat.name || 'Concat'}_own`),
    });
    copy.input = [...concat.input];
    copy.output = [dependencies.names.make(`${concat.output[0]}_own`)];
    const set = inConstant(context, copy, position, element - start);
    return (
      set &&
      ((value) => {
        const { graph } = dependencies.model;
        graph.nodes.splice(graph.nodes.indexOf(node), 0, copy);
        node.input[1] = copy.output[0] ?? '';
        set(value);
      })
    );
  }
  return undefined;
}

/** Makes a computed shape constant, of which at most one element is not known: that becomes −1. */
function asConstant({ dependencies, node }: RuleContext, element: number): Setter | undefined {
  const elements = dependencies.value(node.input[1])?.elements ?? [];
  const open = elements.filter((one, at) => at !== element && (typeof one !== 'number' || one === -1));
  if (open.length > 1 || elements.includes(0)) return undefined;
  return (value) =>
    setNumbers(
      dependencies,
      node,
      1,
      elements.map((one, at) => (at === element ? value : typeof one === 'number' ? one : -1)),
    );
}

/**
 * How to set one element of the shape that a Reshape takes: in the constant, in the constant part that a Concat puts
 * in, or by making the shape constant. Undefined where it is computed otherwise.
 */
export function settableSize(context: RuleContext, element: number): Setter | undefined {
  const name = context.node.input[1] ?? '';
  if (context.dependencies.constant(name) !== undefined) return inConstant(context, context.node, 1, element);
  const producer = context.dependencies.index.producer(name);
  const part = producer?.opType === 'Concat' ? inPart(context, producer, element) : undefined;
  return part ?? asConstant(context, element);
}
