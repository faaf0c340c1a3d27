import { readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { fromBinary } from '@bufbuild/protobuf';
import { hoistConstants } from '../graph/constants.ts';
import { distinctNames } from '../graph/distinct-names.ts';
import { Graph, shortenDomain } from '../graph/graph.ts';
import { ModelError } from '../model-error.ts';
import { type ModelProto, ModelProtoSchema } from '../proto/onnx_pb.js';
import { ExternalData } from '../tensor/external-data.ts';
import { inlineFunctions } from './inline-functions.ts';
import { Model } from './model.ts';

/**
 * Load a model. Tensors stay in the file's bytes or in the external data. Constant nodes become initializers,
 * and no two values have the same name.
 * Close `external` when done.
 *
 * @throws ModelError if the file is not a model, is truncated, or describes its tensors wrongly
 */
export function loadModel(path: string): Model {
  const proto = parseModel(readModel(path));
  checkModel(proto);
  const external = new ExternalData(dirname(path));
  try {
    const { graph } = proto;
    if (graph === undefined) throw new ModelError('The model has no graph.');
    const imports = [...proto.opsetImport, ...proto.functions.flatMap(({ opsetImport }) => opsetImport)];
    for (const opset of imports) shortenDomain(opset);
    inlineFunctions(proto);
    const root = new Graph(graph, external);
    proto.graph = undefined;
    distinctNames(root);
    hoistConstants(root, external);
    return new Model(proto, root, external);
  } catch (error) {
    external.close();
    if (error instanceof ModelError || !(error instanceof Error) || 'code' in error) throw error;
    // Any other error means that the bytes are not a protobuf message.
    throw new ModelError(`The file is not an ONNX model, or is truncated (${error.message}).`);
  }
}

function parseModel(bytes: Uint8Array): ModelProto {
  try {
    return fromBinary(ModelProtoSchema, bytes);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ModelError(`The file is not an ONNX model, or is truncated (${why}).`);
  }
}

/** Largest protobuf message in bytes. */
const maxBytes = 2 ** 31 - 1;

/**
 * The last read file, which a process often needs again. The weak reference lets the garbage collector free it.
 */
let last: { identity: string; bytes: WeakRef<Uint8Array> } | undefined;

function readModel(path: string): Uint8Array {
  const { size, dev, ino, mtimeNs } = statSync(path, { bigint: true });
  if (size > maxBytes)
    throw new ModelError('A model file may have at most 2 GiB; export the model with external data.');
  const identity = [path, size, dev, ino, mtimeNs].join();
  const known = last?.identity === identity ? last.bytes.deref() : undefined;
  const bytes = known ?? readFileSync(path);
  last = { identity, bytes: new WeakRef(bytes) };
  return bytes;
}

function checkModel({ irVersion, opsetImport, graph }: ModelProto): void {
  if (graph === undefined || irVersion === 0n)
    throw new ModelError('The file is not an ONNX model: it has no graph.');
  if (irVersion < 3n)
    throw new ModelError(`ONNX models of IR version ${irVersion} are not supported; the minimum is 3.`);
  if (opsetImport.length === 0) throw new ModelError('The model does not declare its operator set.');
}
