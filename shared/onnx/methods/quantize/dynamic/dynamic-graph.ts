import { type Graph, makeNode, type Names } from '../../../model/graph/graph.ts';
import type { NodeProto } from '../../../model/proto/onnx_pb.js';
import type { Tensor } from '../../../model/tensor/tensor.ts';
import type { QuantizeRequest } from '../../../strategies/quantize-request.ts';
import type { Mapping } from '../quantized-values.ts';
import { isQuantizable, type OwnedConstant, ownedConstant, type WeightStore } from '../weight-store.ts';

/** Options of the rules of dynamic quantization. */
export type DynamicRequest = Pick<
  QuantizeRequest,
  | 'quant_type'
  | 'per_channel'
  | 'reduce_range'
  | 'leaf_node'
  | 'exclude'
  | 'include'
  | 'smooth_alpha'
  | 'equalize'
  | 'bias_correction'
>;

/** Names of an activation's quantized form. */
export interface QuantizedActivation {
  value: string;
  scale: string;
  zeroPoint: string;
}

/** A graph whose nodes are replaced one after the other. */
export class DynamicGraph {
  readonly graph: Graph;
  readonly names: Names;
  readonly weights: WeightStore;
  readonly request: DynamicRequest;
  /** Opset of the model. */
  readonly opset: number;
  /** Tables that are also the transposed weight of a product. */
  readonly tied: ReadonlySet<Tensor>;
  /** Nodes of the quantized graph. */
  readonly nodes: NodeProto[] = [];
  readonly #activations = new Map<string, QuantizedActivation>();

  constructor(
    graph: Graph,
    names: Names,
    weights: WeightStore,
    request: DynamicRequest,
    opset: number,
    tied: ReadonlySet<Tensor> = new Set(),
  ) {
    this.tied = tied;
    this.graph = graph;
    this.names = names;
    this.weights = weights;
    this.request = request;
    this.opset = opset;
  }

  /** How weights are mapped: int8 symmetric, uint8 not. */
  get mapping(): Mapping {
    return dynamicMapping(this.request);
  }

  /** Return the float32 constant that is a node's weight, or the reason why there is none. */
  weight(name: string | undefined): OwnedConstant | string {
    const constant = ownedConstant(this.graph, name);
    if (constant === undefined) return computedBy(this.graph, name);
    if (isQuantizable(constant.tensor)) return constant;
    return constant.tensor.type === 'float' ? 'its weight is empty' : `its weight is ${constant.tensor.type}`;
  }

  /** Return the quantized form of an activation. It is quantized before its first use, once for all users. */
  activation(name: string): QuantizedActivation {
    const known = this.#activations.get(name);
    if (known !== undefined) return known;
    const made = {
      value: this.names.make(`${name}_quantized`),
      scale: this.names.make(`${name}_scale`),
      zeroPoint: this.names.make(`${name}_zero_point`),
    };
    this.#activations.set(name, made);
    const outputs = [made.value, made.scale, made.zeroPoint];
    const options = { name: this.names.make(`${name}_QuantizeLinear`) };
    this.nodes.push(makeNode('DynamicQuantizeLinear', [name], outputs, options));
    return made;
  }
}

/** Say where a weight comes from that is no constant. */
function computedBy(graph: Graph, name = ''): string {
  for (let owner: Graph | undefined = graph; owner !== undefined; owner = owner.parent) {
    const producer = owner.nodes.find(({ output }) => output.includes(name));
    if (producer !== undefined) return `its weight is computed by ${producer.opType} while the model runs`;
  }
  return 'its weight is an input';
}

/** How weights are mapped: int8 symmetric, uint8 not. */
export function dynamicMapping({
  quant_type,
  reduce_range,
}: Pick<DynamicRequest, 'quant_type' | 'reduce_range'>): Mapping {
  const type = quant_type === 'uint8' ? 'uint8' : 'int8';
  return { type, symmetric: type === 'int8', reduced: reduce_range };
}

/** Append a node's quantized form, or return the reason why the node is kept. */
export type DynamicRule = (dynamic: DynamicGraph, node: NodeProto) => string | undefined;

export const notFinite = 'its weight contains values that are not finite';
