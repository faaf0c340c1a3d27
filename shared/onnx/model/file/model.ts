import { create } from '@bufbuild/protobuf';
import type { Graph } from '../graph/graph.ts';
import { type ModelProto, OperatorSetIdProtoSchema } from '../proto/onnx_pb.js';
import type { ExternalData } from '../tensor/external-data.ts';

/** A model that is being worked on. `proto.graph` is held apart as `graph`. */
export class Model {
  readonly proto: ModelProto;
  readonly graph: Graph;
  /** Must stay open until the model was saved: large tensors are read when they are written. */
  readonly external: ExternalData;

  constructor(proto: ModelProto, graph: Graph, external: ExternalData) {
    this.proto = proto;
    this.graph = graph;
    this.external = external;
  }

  /** Version of a domain's operators that the model was written for; 0 where it names none. */
  opset(domain = ''): number {
    // Both names mean ONNX's own operators.
    const same = (other: string): boolean => other === domain || (domain === '' && other === 'ai.onnx');
    const found = this.proto.opsetImport.find((opset) => same(opset.domain));
    return Number(found?.version ?? 0);
  }
}

/** Domain of ONNX Runtime's own operators. */
export const microsoft = 'com.microsoft';

/** Declares that a model uses operators of ONNX Runtime's own. Its other operator sets stay as they are. */
export function useMicrosoft(model: Model): void {
  if (model.opset(microsoft) > 0) return;
  model.proto.opsetImport.push(create(OperatorSetIdProtoSchema, { domain: microsoft, version: 1n }));
}
