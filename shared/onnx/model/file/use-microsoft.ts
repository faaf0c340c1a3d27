import { create } from '@bufbuild/protobuf';
import { OperatorSetIdProtoSchema } from '../proto/onnx_pb.js';
import { type Model, microsoft } from './model.ts';

/** Declares that a model uses operators of ONNX Runtime's own. Its other operator sets stay as they are. */
export function useMicrosoft(model: Model): void {
  if (model.opset(microsoft) > 0) return;
  model.proto.opsetImport.push(create(OperatorSetIdProtoSchema, { domain: microsoft, version: 1n }));
}
