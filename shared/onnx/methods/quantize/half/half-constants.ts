import { type Graph, makeNode, type Names } from '../../../model/graph/graph.ts';
import type { NodeProto } from '../../../model/proto/onnx_pb.js';
import { dataTypes } from '../../../model/tensor/data-type.ts';
import { elementCount, type Tensor } from '../../../model/tensor/tensor.ts';
import { withFloats } from '../../../model/tensor/values.ts';
import type { LayerChange, TransformReport } from '../../report/report.ts';
import { halfTensor, mostHalf } from './half-tensor.ts';

/** Bytes of a constant that is not stored twice. A Cast takes more than a smaller one. */
const minShared = 1024;

/** Minimum number of values of a constant for a line in the receipt. */
const minLayer = 16;

/**
 * Converts constants to half precision, each one once. The result is in the graph of the float32 constant, because
 * bodies see the constants of outer graphs.
 */
export class HalfConstants {
  readonly #names: Names;
  readonly #report: TransformReport;
  readonly #made = new Map<Tensor, { owner: Graph; usual?: string; marker?: string }>();

  constructor(names: Names, report: TransformReport) {
    this.#names = names;
    this.#report = report;
  }

  get count(): number {
    return this.#made.size;
  }

  /** Bytes of the converted constants in float32. */
  get bytes(): number {
    return [...this.#made.keys()].reduce((sum, { byteLength }) => sum + byteLength, 0);
  }

  /**
   * Return the name of a constant in half precision. Undefined if there is no constant with this name, or if it is also
   * an output, which stays float32: it would be stored twice.
   */
  half(graph: Graph, name: string, user: NodeProto, isMarker: boolean): string | undefined {
    let owner: Graph | undefined = graph;
    while (owner !== undefined && !owner.initializers.has(name)) owner = owner.parent;
    const tensor = owner?.initializers.get(name);
    if (owner === undefined || tensor === undefined) return undefined;
    if (owner.outputs.some((output) => output.name === name)) return undefined;
    const kind = isMarker ? 'marker' : 'usual';
    const made = this.#made.get(tensor) ?? { owner };
    const known = made[kind];
    if (known !== undefined) return known;
    const half = this.#names.make(`${name}_float16`);
    this.#made.set(tensor, { ...made, [kind]: half });
    owner.put(halfTensor(tensor, half, this.#report, { layer: this.#layer(tensor, user), isMarker }));
    return half;
  }

  /**
   * Let the nodes that compute in half precision cast a constant that others need in float32: it would be stored
   * twice. ONNX Runtime casts it once, when it opens the model.
   */
  storeOnce(root: Graph): void {
    const inFloat = new Set([...root.all()].flatMap(({ nodes }) => nodes.flatMap(({ input }) => input)));
    for (const [tensor, { owner, usual }] of this.#made) {
      if (usual === undefined || tensor.byteLength < minShared || !inFloat.has(tensor.name)) continue;
      // A Cast makes infinity of larger values, where a stored constant is clamped.
      if (withFloats(tensor, (values) => values.some((value) => Math.abs(value) > mostHalf))) continue;
      owner.initializers.delete(usual);
      const attributes = { to: dataTypes.float16 };
      owner.nodes = [makeNode('Cast', [tensor.name], [usual], { name: usual, attributes }), ...owner.nodes];
      this.#made.delete(tensor);
      const at = this.#report.layers.findIndex(({ weight }) => weight === tensor.name);
      if (at !== -1) this.#report.layers.splice(at, 1);
    }
  }

  #layer(tensor: Tensor, user: NodeProto): LayerChange | undefined {
    return elementCount(tensor.dims) < minLayer ? undefined : this.#report.addLayer(user, tensor);
  }
}
