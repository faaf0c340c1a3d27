import type { NodeProto } from '../proto/onnx_pb.js';

/** What a node is called: its name, or that of its first output. */
export const layerName = ({ name, output, opType }: NodeProto): string => name || output[0] || opType;

/** Whether a request leaves a node as it is, by its name or its type of operator. */
export const isExcluded = (node: NodeProto, exclude: readonly string[]): boolean =>
  exclude.includes(layerName(node)) || exclude.includes(node.opType);
