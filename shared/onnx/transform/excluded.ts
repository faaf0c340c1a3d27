import type { NodeProto } from '../proto/onnx_pb.js';

/** What a node is called in reports and requests: its name, or its first output's where it has none. */
export const nodeName = (node: NodeProto): string => node.name || (node.output[0] ?? '');

/** Whether a request leaves a node out, by its name or the type of its operator. */
export const isExcluded = (node: NodeProto, exclude: readonly string[]): boolean =>
  exclude.includes(nodeName(node)) || exclude.includes(node.opType);
