import type { NodeProto } from '../proto/onnx_pb.js';

/** What a node is called: its name, or that of its first output. */
export const layerName = ({ name, output, opType }: NodeProto): string => name || output[0] || opType;
