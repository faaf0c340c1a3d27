import type { Model } from '../../../model/file/model.ts';
import { Names } from '../../../model/graph/graph.ts';
import { GraphIndex } from '../../../model/graph/graph-index.ts';
import type { Dim } from '../../../model/graph/value-info.ts';
import { inferValues } from '../../../model/infer/infer-values.ts';
import type { Value } from '../../../model/infer/value.ts';
import type { NodeProto } from '../../../model/proto/onnx_pb.js';
import type { Tensor } from '../../../model/tensor/tensor.ts';
import { isFloatTensor } from '../../../model/tensor/values.ts';
import { Channels, type Labels } from './channels.ts';

/** A constant input of a node that loses the removed channels along an axis. */
export interface Cut {
  node: NodeProto;
  position: number;
  axis: number;
  labels: Labels;
  /** Whether the constant is the weight of a Conv, Gemm or MatMul. */
  isWeight: boolean;
}

/** A layer that produces channels. */
export interface Producer {
  node: NodeProto;
  labels: Labels;
}

/** Remaining positions of the axes after the choice of channels. */
export interface Remaining {
  /** Return the number of remaining channels. */
  count(labels: Labels): number;
  /** Return the places of the remaining channels. */
  places(labels: Labels): number[];
}

/** A change of a node, applied after the choice of the removed channels. */
export type Edit = (remaining: Remaining) => void;

/** A value with removable channels along an axis. */
export interface Carried {
  axis: number;
  labels: Labels;
}

/** Channel dependencies of a model, collected node by node. */
export class DependencyGraph {
  readonly model: Model;
  readonly index: GraphIndex;
  readonly names: Names;
  readonly channels = new Channels();
  readonly cuts: Cut[] = [];
  readonly producers: Producer[] = [];
  readonly edits: Edit[] = [];
  /** Values that carry channels. */
  readonly carried = new Map<string, Carried>();
  /** Shapes in which an element is the number of these channels. */
  readonly counts = new Map<string, readonly (Labels | undefined)[]>();
  readonly #values: ReadonlyMap<string, Value>;
  readonly #weightAxes = new Map<string, Labels>();

  constructor(model: Model) {
    this.model = model;
    this.index = new GraphIndex(model.graph);
    this.names = new Names(model.graph);
    this.#values = inferValues(model);
  }

  value(name: string | undefined): Value | undefined {
    return this.#values.get(name ?? '');
  }

  /** Return the dimensions of a value. The size of a channel axis is known even if it was not inferred. */
  dims(name: string | undefined): readonly Dim[] | undefined {
    const dims = this.constant(name)?.dims ?? this.value(name)?.dims;
    const carried = this.carried.get(name ?? '');
    return carried === undefined ? dims : dims?.with(carried.axis, carried.labels.length);
  }

  /** Return a constant of the main graph. Undefined for other values. */
  constant(name: string | undefined): Tensor | undefined {
    return this.model.graph.initializers.get(name ?? '');
  }

  /** Return a constant that may be edited: it has a floating-point type and is no output of the model. */
  editable(name: string | undefined): Tensor | undefined {
    const tensor = this.constant(name);
    if (tensor === undefined || !isFloatTensor(tensor) || this.index.isOutput(tensor.name)) return undefined;
    return tensor;
  }

  /**
   * Record that a constant loses channels. A weight that several layers share stays shared: their channels are
   * tied.
   */
  cut(cut: Cut): void {
    this.cuts.push(cut);
    if (!cut.isWeight) return;
    const key = `${cut.axis}:${cut.node.input[cut.position]}`;
    const known = this.#weightAxes.get(key);
    if (known === undefined) this.#weightAxes.set(key, cut.labels);
    else this.channels.tieAll(known, cut.labels);
  }
}
