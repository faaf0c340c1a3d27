import type { NodeProto } from '../../model/proto/onnx_pb.js';

/** Name of a node: its own, or that of its first output. */
export const layerName = ({ name, output, opType }: NodeProto): string => name || output[0] || opType;
