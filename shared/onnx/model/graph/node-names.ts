import type { NodeProto } from '../proto/onnx_pb.js';

/** Name of a node in reports and requests: its own, or that of its first output. */
export const nodeName = (node: NodeProto): string => node.name || (node.output[0] ?? '');

/** The type of a node's operator, with its domain where that is not ONNX's own. */
export const operatorName = ({ domain, opType }: NodeProto): string =>
  domain === '' || domain === 'ai.onnx' ? opType : `${domain}.${opType}`;

/** Everything by which a request can leave a node out. */
export const namesOf = (node: NodeProto): readonly string[] => [
  nodeName(node),
  node.opType,
  operatorName(node),
];

/** Whether a request leaves a node out, by its name or the type of its operator, with or without the domain. */
export const isExcluded = (node: NodeProto, exclude: readonly string[]): boolean =>
  exclude.length > 0 && namesOf(node).some((name) => exclude.includes(name));
