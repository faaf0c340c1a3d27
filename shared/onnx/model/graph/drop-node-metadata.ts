import { clearField } from '@bufbuild/protobuf';
import { NodeProtoSchema, ValueInfoProtoSchema } from '../proto/onnx_pb.js';
import type { Graph } from './graph.ts';

/**
 * Drop the documentation and metadata of nodes and values, control flow bodies included. PyTorch's exporter writes
 * stack traces with paths of the author's machine there, about 2 kB a node. Those of the model stay.
 */
export function dropNodeMetadata(root: Graph): void {
  for (const { proto } of root.all()) {
    // An empty text would be written, too, so the field is cleared.
    for (const node of proto.node) {
      clearField(node, NodeProtoSchema.field.docString);
      node.metadataProps = [];
    }
    for (const value of [...proto.input, ...proto.output, ...proto.valueInfo]) {
      clearField(value, ValueInfoProtoSchema.field.docString);
      value.metadataProps = [];
    }
  }
}
