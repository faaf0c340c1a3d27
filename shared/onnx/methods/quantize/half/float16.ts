import { Model } from '../../../model/file/model.ts';
import { setAttribute } from '../../../model/graph/attributes.ts';
import { type Graph, isExcluded, makeNode, Names, nodeName } from '../../../model/graph/graph.ts';
import { outerNames } from '../../../model/graph/graph-index.ts';
import { removeUnused } from '../../../model/graph/remove-unused.ts';
import { valueTypeOf } from '../../../model/graph/value-info.ts';
import { inferValues } from '../../../model/infer/infer-values.ts';
import { takesHalf } from '../../../model/infer/operator-schema.ts';
import type { Value } from '../../../model/infer/value.ts';
import { ModelError } from '../../../model/model-error.ts';
import type { NodeProto } from '../../../model/proto/onnx_pb.js';
import { bitsOf, dataTypes } from '../../../model/tensor/data-type.ts';
import type { Tensor } from '../../../model/tensor/tensor.ts';
import type { QuantizeRequest } from '../../../strategies/quantize-request.ts';
import type { CalibrationRanges } from '../../calibrate/ranges.ts';
import type { TransformReport } from '../../report/report.ts';
import { angleNodes, ofAngles } from '../angle-nodes.ts';
import { foldMoved } from '../fold-weights.ts';
import { weightTypes } from '../weight-types.ts';
import { HalfConstants } from './half-constants.ts';
import { HalfGuards } from './half-guards.ts';
import { fullPrecisionReason } from './half-operators.ts';
import { swappedProducts } from './swapped-products.ts';

/** Provides each value of a graph in the precision that its user needs, with at most one Cast per value. */
class Precisions {
  readonly #graph: Graph;
  readonly #names: Names;
  readonly #constants: HalfConstants;
  /** The name of a value in each precision in which it exists. */
  readonly #full = new Map<string, string>();
  readonly #half = new Map<string, string>();
  /** The converted nodes. */
  readonly nodes: NodeProto[] = [];

  constructor(graph: Graph, names: Names, constants: HalfConstants) {
    this.#graph = graph;
    this.#names = names;
    this.#constants = constants;
  }

  /** Record that a value exists in float32 under its own name. */
  isFull(name: string): void {
    this.#full.set(name, name);
  }

  /** Record the name under which a value exists in half precision. */
  isHalf(name: string, as: string): void {
    this.#half.set(name, as);
  }

  /**
   * Return the name of a float value in float32, after a Cast if needed. Constants and values of outer graphs are
   * in float32 already.
   */
  full(name: string): string {
    if (this.#graph.initializer(name) !== undefined || !this.#half.has(name)) return name;
    return this.#cast(name, this.#full, this.#half, { to: 'float', suffix: 'float32' });
  }

  /** Return the name of a float value in half precision, after a Cast if needed. Constants are converted. */
  half(name: string, user: NodeProto, isMarker: boolean): string {
    return (
      this.#constants.half(this.#graph, name, user, isMarker) ??
      this.#cast(name, this.#half, this.#full, { to: 'float16', suffix: 'float16' })
    );
  }

  #cast(
    name: string,
    wanted: Map<string, string>,
    other: ReadonlyMap<string, string>,
    { to, suffix }: { to: 'float' | 'float16'; suffix: string },
  ): string {
    const known = wanted.get(name);
    if (known !== undefined) return known;
    const made = this.#names.make(`${name}_${suffix}`);
    const from = other.get(name) ?? name;
    this.nodes.push(makeNode('Cast', [from], [made], { name: made, attributes: { to: dataTypes[to] } }));
    wanted.set(name, made);
    return made;
  }
}

/**
 * Return the values that must exist in float32 under their own name: outputs, and inputs of control flow bodies.
 */
function fixedNames(graph: Graph): Set<string> {
  const outputs = graph.outputs.map(({ name }) => name);
  return new Set([...outputs, ...graph.nodes.flatMap((node) => [...outerNames(graph, node)])]);
}

/**
 * Turn a Cast to float into a Cast to float16, or into Identity if its input is float. A Cast from float16 to
 * float16 would do nothing, and ONNX Runtime 1.30 mistakes it for its own Cast between two operators that it
 * computes in float. It then refuses the model, or crashes.
 */
function castToHalf(node: NodeProto, isOfFloat: boolean): void {
  if (isOfFloat) {
    node.opType = 'Identity';
    node.attribute = [];
  } else setAttribute(node, 'to', dataTypes.float16);
}

const crashing = 'ONNX Runtime crashes on a swap of axes in half precision before a product with weights';

/** Converts a model, graph by graph. */
class Conversion {
  readonly #model: Model;
  readonly #exclude: readonly string[];
  /** Observed ranges of values of the main graph. */
  readonly #ranges: CalibrationRanges;
  readonly #report: TransformReport;
  readonly #names: Names;
  readonly #constants: HalfConstants;

  constructor(
    model: Model,
    { exclude, ranges }: { exclude: readonly string[]; ranges: CalibrationRanges },
    report: TransformReport,
  ) {
    this.#model = model;
    this.#exclude = exclude;
    this.#ranges = ranges;
    this.#report = report;
    this.#names = new Names(model.graph);
    this.#constants = new HalfConstants(this.#names, report);
  }

  get converted(): number {
    return this.#constants.count;
  }

  /** Store no constant in both precisions. */
  storeOnce(): void {
    this.#constants.storeOnce(this.#model.graph);
  }

  get convertedBytes(): number {
    return this.#constants.bytes;
  }

  /**
   * Convert a graph and its control flow bodies. The inputs and outputs of bodies stay float32. `outer` contains
   * the values around a body.
   */
  convert(graph: Graph, outer: ReadonlyMap<string, Value>): void {
    const model = new Model(this.#model.proto, graph, this.#model.external);
    const values = inferValues(model, new Map(), outer);
    const guards = new HalfGuards(
      (name) => graph.initializer(name),
      graph.parent === undefined ? this.#ranges : new Map(),
    );
    const precisions = new Precisions(graph, this.#names, this.#constants);
    const fixed = fixedNames(graph);
    const swapped = swappedProducts(graph);
    const isFloat = (name: string): boolean => values.get(name)?.type === 'float';
    const angles = angleNodes(graph, isFloat);
    for (const { name } of graph.inputs) if (isFloat(name)) precisions.isFull(name);
    for (const node of graph.nodes) {
      const isLeftOut = isExcluded(node, this.#exclude);
      if (!isLeftOut) for (const body of graph.bodiesOf(node)) this.convert(body, values);
      const own = isLeftOut ? 'the request excludes it' : this.#reason(node, model, values, guards);
      const why = own ?? (swapped.has(node) ? crashing : angles.has(node) ? ofAngles : undefined);
      this.#place(node, { isFloat, precisions, fixed, guards, why });
    }
    graph.nodes = precisions.nodes;
    // Drop declarations of intermediate values as float32, which are no longer true.
    graph.proto.valueInfo = graph.proto.valueInfo.filter((info) => valueTypeOf(info)?.type !== 'float');
  }

  /** Return the reason why a node stays in float32. Undefined if it is converted. */
  #reason(
    node: NodeProto,
    model: Model,
    values: ReadonlyMap<string, Value>,
    guards: HalfGuards,
  ): string | undefined {
    // Ask the guards even if the node stays for another reason, because its result may need float32.
    const guarded = guards.reason(node);
    const own = fullPrecisionReason(node);
    if (own !== undefined) return own;
    const open = [...node.input, ...node.output].find((name) => name !== '' && !values.has(name));
    if (open !== undefined) return `the type of ${JSON.stringify(open)} is unknown`;
    const isFloat = (name: string): boolean => values.get(name)?.type === 'float';
    return takesHalf(node, model, isFloat) ? guarded : 'it supports only float32';
  }

  /** Add a node with the Casts that it needs. */
  #place(node: NodeProto, { isFloat, precisions, fixed, guards, why }: Placing): void {
    const isTouched = [...node.input, ...node.output].some(isFloat);
    if (why !== undefined && isTouched) this.#report.keep(nodeName(node), why);
    if (why === undefined && node.opType === 'Cast' && isFloat(node.output[0] ?? '')) {
      castToHalf(node, isFloat(node.input[0] ?? ''));
    }
    node.input = node.input.map((name) => {
      if (!isFloat(name)) return name;
      return why === undefined
        ? precisions.half(name, node, guards.isMarker(name, node))
        : precisions.full(name);
    });
    const casts: NodeProto[] = [];
    node.output = node.output.map((name) => {
      if (name === '' || !isFloat(name)) return name;
      if (why !== undefined) precisions.isFull(name);
      else if (!fixed.has(name)) precisions.isHalf(name, name);
      else {
        const half = this.#names.make(`${name}_float16`);
        precisions.isHalf(name, half);
        precisions.isFull(name);
        casts.push(
          makeNode('Cast', [half], [name], {
            name: this.#names.make(`${name}_cast`),
            attributes: { to: dataTypes.float },
          }),
        );
        return half;
      }
      return name;
    });
    precisions.nodes.push(node, ...casts);
  }
}

interface Placing {
  isFloat(name: string): boolean;
  precisions: Precisions;
  fixed: ReadonlySet<string>;
  guards: HalfGuards;
  why: string | undefined;
}

/**
 * Convert a model to half precision: constants and the values between operators, in control flow bodies as well.
 * Inputs and outputs stay float32, and callers need not change. Casts surround the operators that stay in float32:
 * those that take float32 only, and those with numbers that half precision does not have. An operator with values
 * of unknown type stays in float32, too. A value that calibration saw beyond half precision stays in float32, with
 * the nodes that produce and use it. Constants are converted while the model is saved. The report has its errors
 * and warnings after that.
 *
 * @throws ModelError if nothing can be converted
 */
export function convertToFloat16(
  model: Model,
  { exclude }: Pick<QuantizeRequest, 'exclude'>,
  report: TransformReport,
  ranges: CalibrationRanges = new Map(),
): void {
  foldMoved(model.graph, exclude);
  // The source computes a filled constant from its shape, so it takes no bytes of the file.
  const all = [...model.graph.all()]
    .flatMap(({ initializers }) => [...initializers.values()])
    .filter(({ fill }) => fill === undefined);
  const total = all.reduce((sum, { byteLength }) => sum + byteLength, 0);
  const conversion = new Conversion(model, { exclude, ranges }, report);
  conversion.convert(model.graph, new Map());
  conversion.storeOnce();
  if (conversion.converted === 0) {
    throw new ModelError(
      `float16 has nothing to convert: the model has no float32 constant of an operator that supports half precision.${weightTypes(model.graph)}${report.keptText()}`,
    );
  }
  if (conversion.convertedBytes < minShare * total)
    throw new ModelError(
      `float16 would make nothing smaller: of ${total} bytes of constants it converts ${conversion.convertedBytes}.${typesText(all)}${report.keptText()}`,
    );
  removeUnused(model.graph);
}

/** Smallest share of the constants whose conversion is worth the additional Casts. */
const minShare = 0.04;

/** Say that the largest part of the constants is quantized already. Empty if it is not. */
function typesText(constants: readonly Tensor[]): string {
  const bytesOf = (isCounted: (tensor: Tensor) => boolean): number =>
    constants.filter(isCounted).reduce((sum, { byteLength }) => sum + byteLength, 0);
  const quantized = bytesOf(({ type }) => bitsOf(type) > 0 && bitsOf(type) <= 8 && type !== 'bool');
  return quantized * 2 > bytesOf(() => true)
    ? ' The weights of the model are already in 8 bits or fewer.'
    : '';
}
