import { create } from '@bufbuild/protobuf';
import { Model } from '../../../../shared/onnx/model/file/model.ts';
import { Graph, makeNode } from '../../../../shared/onnx/model/graph/graph.ts';
import { valueInfoOf } from '../../../../shared/onnx/model/graph/value-info.ts';
import { GraphProtoSchema, ModelProtoSchema } from '../../../../shared/onnx/model/proto/onnx_pb.js';
import { ExternalData } from '../../../../shared/onnx/model/tensor/external-data.ts';
import { lazyTensor } from '../../../../shared/onnx/model/tensor/tensor.ts';

/** Rows and columns of each weight: 64 MiB. */
const width = 4096;
const layers = 38;

/** Bytes of the weights: 2.55 GB. */
export const largeModelBytes = layers * width * width * 4;
export const largestTensorBytes = width * width * 4;

/** Uniformly distributed values, a seed for each layer (xorshift, 32 bits). */
function values(seed: number): Uint8Array {
  const out = new Float32Array(width * width);
  const scale = 2 / Math.sqrt(width) / 2 ** 31;
  let state = seed;
  for (let at = 0; at < out.length; at += 1) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    out[at] = state * scale;
  }
  return new Uint8Array(out.buffer);
}

/** A model of more than 2 GB: layers of MatMul and Relu, whose weights are made while it is written. */
export function largeModel(): Model {
  const name = (layer: number): string => `value_${layer}`;
  const nodes = Array.from({ length: layers }, (_, layer) => [
    makeNode('MatMul', [name(layer), `weight_${layer}`], [`product_${layer}`], { name: `MatMul_${layer}` }),
    makeNode('Relu', [`product_${layer}`], [name(layer + 1)], { name: `Relu_${layer}` }),
  ]).flat();
  const dims = ['batch', width];
  const proto = create(GraphProtoSchema, {
    name: 'large',
    node: nodes,
    input: [valueInfoOf({ name: name(0), type: 'float', dims })],
    output: [valueInfoOf({ name: name(layers), type: 'float', dims })],
  });
  const external = new ExternalData('.');
  const graph = new Graph(proto, external);
  for (let layer = 0; layer < layers; layer += 1) {
    graph.put(lazyTensor(`weight_${layer}`, 'float', [width, width], () => values(layer + 1)));
  }
  const model = create(ModelProtoSchema, { irVersion: 8n, opsetImport: [{ domain: '', version: 17n }] });
  return new Model(model, graph, external);
}
