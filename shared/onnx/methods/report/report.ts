import { nodeName } from '../../model/graph/graph.ts';
import type { NodeProto } from '../../model/proto/onnx_pb.js';
import { elementCount, type Tensor } from '../../model/tensor/tensor.ts';
import type { PruningOutcome } from './pruning-outcome.ts';

/** The change of a layer's weight. */
export interface LayerChange {
  /** Name of the node. If the node has no name, that of its first output. */
  layer: string;
  operator: string;
  /** Name of the weight in the source model. */
  weight: string;
  parameters_before: number;
  parameters_after: number;
  /** Parameters other than zero; null if they were not counted. */
  nonzero_before: number | null;
  nonzero_after: number | null;
  /** Relative L2 error of the weight, ‖w′ − w‖ / ‖w‖; null if the shapes differ. */
  error: number | null;
}

/** A part of the model that a method did not change. */
export interface Kept {
  what: string;
  why: string;
}

const keptSaid = 3;

/** Collect the changes of a transformation for the receipt. */
export class TransformReport {
  readonly layers: LayerChange[] = [];
  readonly kept: Kept[] = [];

  /** Add a weight whose values change, but not their number. Its error is known once it is written. */
  addLayer(node: NodeProto, weight: Tensor): LayerChange {
    const parameters = elementCount(weight.dims);
    const layer = {
      layer: nodeName(node),
      operator: node.opType,
      weight: weight.name,
      parameters_before: parameters,
      parameters_after: parameters,
      nonzero_before: null,
      nonzero_after: null,
      error: null,
    };
    this.layers.push(layer);
    return layer;
  }
  /** Notes for the owner. */
  readonly notes: string[] = [];
  /** Warnings that the result may be bad. */
  readonly warnings: string[] = [];
  /** Result of a pruning; null for other methods. */
  pruning: PruningOutcome | null = null;

  keep(what: string, why: string): void {
    this.kept.push({ what, why });
  }

  /**
   * Return a sentence about the first kept layers, for the error that nothing could be changed. Empty if no layers
   * were kept.
   */
  keptText(): string {
    if (this.kept.length === 0) return '';
    const others = this.kept.length - keptSaid;
    const said = this.kept.slice(0, keptSaid).map(({ what, why }) => `${clipped(what)}: ${clipped(why)}`);
    return ` Unchanged: ${said.join('; ')}${others > 0 ? `; and ${others} more` : ''}.`;
  }
}

/** Clip a name. A model may contain names of any length. */
const clipped = (text: string): string => (text.length > 100 ? `${text.slice(0, 100)}…` : text);
