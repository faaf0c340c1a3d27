import { create } from '@bufbuild/protobuf';
import { Model } from '../../../../shared/onnx/model/file/model.ts';
import type { AttributeValue } from '../../../../shared/onnx/model/graph/attributes.ts';
import { Graph, makeNode } from '../../../../shared/onnx/model/graph/graph.ts';
import { type Dim, valueInfoOf } from '../../../../shared/onnx/model/graph/value-info.ts';
import {
  GraphProtoSchema,
  ModelProtoSchema,
  type NodeProto,
} from '../../../../shared/onnx/model/proto/onnx_pb.js';
import { ExternalData } from '../../../../shared/onnx/model/tensor/external-data.ts';
import { makeInt64s, makeTensor, type Tensor } from '../../../../shared/onnx/model/tensor/tensor.ts';
import { seededRandom } from '../../../support/seeded-random.ts';

/** A model of a known architecture with seeded random weights, put together layer by layer. */
export class Draft {
  readonly #nodes: NodeProto[] = [];
  readonly #tensors: Tensor[] = [];
  readonly #random: () => number;
  #count = 0;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
  }

  /** Normally distributed values (Box–Muller). */
  #normal(count: number, deviation: number): Float32Array {
    return Float32Array.from({ length: count }, () => {
      const radius = Math.sqrt(-2 * Math.log(1 - this.#random()));
      return deviation * radius * Math.cos(2 * Math.PI * this.#random());
    });
  }

  /** Adds a node and names its output after it. */
  node(
    op: string,
    inputs: readonly string[],
    attributes: Readonly<Record<string, AttributeValue>> = {},
  ): string {
    this.#count += 1;
    const name = `${op}_${this.#count}`;
    this.#nodes.push(makeNode(op, inputs, [`${name}_out`], { name, attributes }));
    return `${name}_out`;
  }

  weight(name: string, dims: readonly number[], deviation: number): string {
    const count = dims.reduce((product, dim) => product * dim, 1);
    this.#tensors.push(makeTensor(name, 'float', dims, this.#normal(count, deviation)));
    return name;
  }

  filled(name: string, dims: readonly number[], value: number): string {
    const count = dims.reduce((product, dim) => product * dim, 1);
    this.#tensors.push(makeTensor(name, 'float', dims, new Float32Array(count).fill(value)));
    return name;
  }

  int64s(name: string, values: readonly number[]): string {
    this.#tensors.push(makeInt64s(name, values));
    return name;
  }

  /** A convolution with bias, as exporters write it once the normalization was folded. */
  conv(
    input: string,
    {
      from,
      to,
      kernel,
      stride = 1,
      group = 1,
    }: { from: number; to: number; kernel: number; stride?: number; group?: number },
  ): string {
    const at = this.#count + 1;
    const pad = Math.floor(kernel / 2);
    const fan = (from / group) * kernel * kernel;
    const weight = this.weight(`conv_${at}_weight`, [to, from / group, kernel, kernel], Math.sqrt(2 / fan));
    const bias = this.weight(`conv_${at}_bias`, [to], 0.01);
    return this.node('Conv', [input, weight, bias], {
      kernel_shape: [kernel, kernel],
      strides: [stride, stride],
      pads: [pad, pad, pad, pad],
      group,
    });
  }

  /** A fully connected layer of [K, N] as MatMul and Add. */
  dense(input: string, k: number, n: number): string {
    const at = this.#count + 1;
    const weight = this.weight(`dense_${at}_weight`, [k, n], Math.sqrt(1 / k));
    const product = this.node('MatMul', [input, weight]);
    return this.node('Add', [product, this.weight(`dense_${at}_bias`, [n], 0.01)]);
  }

  /** The classifier of image models: mean over the image, then a Gemm. */
  classifier(input: string, channels: number, classes: number): string {
    const pooled = this.node('Flatten', [this.node('GlobalAveragePool', [input])]);
    const weight = this.weight('head_weight', [classes, channels], Math.sqrt(1 / channels));
    return this.node('Gemm', [pooled, weight, this.weight('head_bias', [classes], 0.01)], { transB: 1 });
  }

  finish(input: readonly Dim[], output: string, outputDims: readonly Dim[]): Model {
    const external = new ExternalData('.');
    const proto = create(GraphProtoSchema, {
      name: 'architecture',
      node: this.#nodes,
      input: [valueInfoOf({ name: 'input', type: 'float', dims: input })],
      output: [valueInfoOf({ name: output, type: 'float', dims: outputDims })],
    });
    const graph = new Graph(proto, external);
    for (const tensor of this.#tensors) graph.put(tensor);
    const model = create(ModelProtoSchema, { irVersion: 8n, opsetImport: [{ domain: '', version: 17n }] });
    return new Model(model, graph, external);
  }
}
