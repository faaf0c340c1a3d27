import { create } from '@bufbuild/protobuf';
import type { Graph } from '../graph/graph.ts';
import { type ModelProto, OperatorSetIdProtoSchema } from '../proto/onnx_pb.js';
import type { ExternalData } from '../tensor/external-data.ts';

/** A mutable model. `proto.graph` is kept separately as `graph`. */
export class Model {
  readonly proto: ModelProto;
  readonly graph: Graph;
  /** Must stay open until the model is saved, because large tensors are read only while they are written. */
  readonly external: ExternalData;

  constructor(proto: ModelProto, graph: Graph, external: ExternalData) {
    this.proto = proto;
    this.graph = graph;
    this.external = external;
  }

  /** Return the opset version of a domain; 0 if the model does not import it. */
  opset(domain = ''): number {
    const imported = this.proto.opsetImport.find((opset) => opset.domain === domain);
    return Number(imported?.version ?? 0);
  }
}

/** Domain of ONNX Runtime's own operators. */
export const microsoft = 'com.microsoft';

/** Add ONNX Runtime's own opset to a model's imports. Its other opsets stay unchanged. */
export function useMicrosoft(model: Model): void {
  if (model.opset(microsoft) > 0) return;
  model.proto.opsetImport.push(create(OperatorSetIdProtoSchema, { domain: microsoft, version: 1n }));
}
