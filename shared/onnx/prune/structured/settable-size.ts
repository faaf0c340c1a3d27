import { create } from '@bufbuild/protobuf';
import { type NodeProto, NodeProtoSchema } from '../../proto/onnx_pb.js';
import { integersOf } from '../../tensor/values.ts';
import { setNumbers } from './number-input.ts';
import type { Site } from './site.ts';

type Setter = (value: number) => void;

/** Sets an element of a constant that a node takes; the constant is copied. */
function inConstant({ survey }: Site, owner: NodeProto, position: number, at: number): Setter | undefined {
  const tensor = survey.constant(owner.input[position]);
  if (tensor === undefined || tensor.dims.length !== 1) return undefined;
  return (value) => {
    const now = survey.constant(owner.input[position]) ?? tensor;
    setNumbers(survey, owner, position, integersOf(now).with(at, value));
  };
}

/** Sets an element in the part that a Concat puts into a shape. The Concat is copied where others use it, too. */
function inPart(site: Site, concat: NodeProto, element: number): Setter | undefined {
  const { survey, node } = site;
  let start = 0;
  for (const [position, part] of concat.input.entries()) {
    const length = survey.value(part)?.elements?.length ?? survey.dims(part)?.[0];
    if (typeof length !== 'number') return undefined;
    if (element >= start + length) {
      start += length;
      continue;
    }
    if (survey.index.soleUse(concat.output[0] ?? '') !== undefined)
      return inConstant(site, concat, position, element - start);
    const copy = create(NodeProtoSchema, {
      ...concat,
      name: survey.names.make(`${concat.name || 'Concat'}_own`),
    });
    copy.input = [...concat.input];
    copy.output = [survey.names.make(`${concat.output[0]}_own`)];
    const set = inConstant(site, copy, position, element - start);
    return (
      set &&
      ((value) => {
        const { graph } = survey.model;
        graph.nodes.splice(graph.nodes.indexOf(node), 0, copy);
        node.input[1] = copy.output[0] ?? '';
        set(value);
      })
    );
  }
  return undefined;
}

/** Makes a computed shape constant, of which at most one element is not known: that becomes −1. */
function asConstant({ survey, node }: Site, element: number): Setter | undefined {
  const elements = survey.value(node.input[1])?.elements ?? [];
  const open = elements.filter((one, at) => at !== element && (typeof one !== 'number' || one === -1));
  if (open.length > 1 || elements.includes(0)) return undefined;
  return (value) =>
    setNumbers(
      survey,
      node,
      1,
      elements.map((one, at) => (at === element ? value : typeof one === 'number' ? one : -1)),
    );
}

/**
 * How to set one element of the shape that a Reshape takes: in the constant, in the constant part that a Concat puts
 * in, or by making the shape constant. Undefined where it is computed otherwise.
 */
export function settableSize(site: Site, element: number): Setter | undefined {
  const name = site.node.input[1] ?? '';
  if (site.survey.constant(name) !== undefined) return inConstant(site, site.node, 1, element);
  const producer = site.survey.index.producer(name);
  const part = producer?.opType === 'Concat' ? inPart(site, producer, element) : undefined;
  return part ?? asConstant(site, element);
}
