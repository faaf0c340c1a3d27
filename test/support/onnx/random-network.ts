import type { Model } from '../../../shared/onnx/model/file/model.ts';
import type { AttributeValue } from '../../../shared/onnx/model/graph/attributes.ts';
import { makeNode } from '../../../shared/onnx/model/graph/graph.ts';
import type { Dim } from '../../../shared/onnx/model/graph/value-info.ts';
import type { NodeProto } from '../../../shared/onnx/model/proto/onnx_pb.js';
import {
  elementCount,
  makeInt64s,
  makeTensor,
  type Tensor,
} from '../../../shared/onnx/model/tensor/tensor.ts';
import { seededRandom } from '../seeded-random.ts';
import { smallModel } from './small-model.ts';

/** A value in the making and its shape: [2, C, H, W] or [2, features]. */
export interface Made {
  name: string;
  dims: readonly number[];
}

/** Puts nodes and constants of a random network together. Each weight's values differ from each other. */
export class NetworkMaker {
  readonly nodes: NodeProto[] = [];
  readonly constants: Tensor[] = [];
  readonly random: () => number;

  constructor(seed: number) {
    this.random = seededRandom(seed);
  }

  below(count: number): number {
    return Math.floor(this.random() * count);
  }

  pick<T>(choices: readonly T[]): T {
    const choice = choices[this.below(choices.length)];
    if (choice === undefined) throw new Error('nothing to pick from');
    return choice;
  }

  /** Values from −scale to scale in random order, all different. */
  weight(dims: readonly number[], scale: number, least = -scale): string {
    const count = elementCount(dims);
    const order = Array.from({ length: count }, (_, at) => at);
    for (let at = count - 1; at > 0; at -= 1) {
      const other = this.below(at + 1);
      [order[at], order[other]] = [order[other] ?? 0, order[at] ?? 0];
    }
    const values = Float32Array.from(order, (place) => least + ((place + 0.37) / count) * (scale - least));
    const name = `w${this.constants.length}`;
    this.constants.push(makeTensor(name, 'float', dims, values));
    return name;
  }

  integers(values: readonly number[]): string {
    const name = `i${this.constants.length}`;
    this.constants.push(makeInt64s(name, values));
    return name;
  }

  node(op: string, inputs: readonly string[], attributes: Record<string, AttributeValue> = {}, outputs = 1) {
    const id = this.nodes.length;
    const names = Array.from({ length: outputs }, (_, at) => `v${id}_${at}`);
    this.nodes.push(makeNode(op, inputs, names, { name: `${op}_${id}`, attributes }));
    return names;
  }

  /** A node that keeps the shape of its first input. */
  same(
    x: Made,
    op: string,
    more: readonly string[] = [],
    attributes: Record<string, AttributeValue> = {},
  ): Made {
    return { name: this.node(op, [x.name, ...more], attributes)[0] ?? '', dims: x.dims };
  }

  conv(x: Made, channels: number, { groups = 1, kernel = this.pick([1, 3]) } = {}): Made {
    const [batch = 0, from = 0, height = 0, width = 0] = x.dims;
    const perGroup = from / groups;
    const weight = this.weight(
      [channels, perGroup, kernel, kernel],
      1.7 / Math.sqrt(perGroup * kernel * kernel),
    );
    const bias = this.random() < 0.7 ? [this.weight([channels], 0.5)] : [];
    const pad = (kernel - 1) / 2;
    const attributes = { group: groups, pads: [pad, pad, pad, pad], kernel_shape: [kernel, kernel] };
    const [name = ''] = this.node('Conv', [x.name, weight, ...bias], attributes);
    return { name, dims: [batch, channels, height, width] };
  }

  batchNorm(x: Made): Made {
    const channels = [x.dims[1] ?? 0];
    const constants = [
      this.weight(channels, 1.5, 0.5),
      this.weight(channels, 0.5),
      this.weight(channels, 0.5),
      this.weight(channels, 1.5, 0.5),
    ];
    return this.same(x, 'BatchNormalization', constants);
  }

  activation(x: Made): Made {
    return this.same(x, this.pick(['Relu', 'Sigmoid', 'Tanh', 'LeakyRelu', 'HardSwish', 'Softplus']));
  }

  linear(x: Made, features: number): Made {
    const from = x.dims.at(-1) ?? 0;
    const scale = 1.7 / Math.sqrt(from);
    const dims = [...x.dims.slice(0, -1), features];
    if (x.dims.length === 2 && this.random() < 0.6) {
      const isTransposed = this.random() < 0.5;
      const weight = this.weight(isTransposed ? [features, from] : [from, features], scale);
      const bias = this.random() < 0.7 ? [this.weight(this.pick([[features], [1, features], [1]]), 0.5)] : [];
      const [name = ''] = this.node('Gemm', [x.name, weight, ...bias], { transB: isTransposed ? 1 : 0 });
      return { name, dims };
    }
    const [product = ''] = this.node('MatMul', [x.name, this.weight([from, features], scale)]);
    return { name: this.node('Add', [product, this.weight([features], 0.5)])[0] ?? '', dims };
  }

  finish(input: readonly Dim[], output: Made, outputDims: readonly Dim[] = output.dims): Model {
    this.nodes.push(makeNode('Identity', [output.name], ['y'], { name: 'last' }));
    return smallModel({
      nodes: this.nodes,
      constants: this.constants,
      inputs: { x: input },
      outputs: { y: outputDims },
      opset: 18,
    });
  }
}
