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
import { dataTypes } from '../../../model/tensor/data-type.ts';
import type { QuantizeRequest } from '../../../strategies/quantize-request.ts';
import type { CalibrationRanges } from '../../calibrate/ranges.ts';
import type { TransformReport } from '../../report/report.ts';
import { HalfConstants } from './half-constants.ts';
import { HalfGuards } from './half-guards.ts';
import { fullPrecisionReason } from './half-operators.ts';
import { swappedProducts } from './swapped-products.ts';

/** Gives each value of a graph out in the precision that its user takes, with one Cast at most. */
class Precisions {
  readonly #graph: Graph;
  readonly #names: Names;
  readonly #constants: HalfConstants;
  /** The name of a value in each precision, as far as there is one. */
  readonly #full = new Map<string, string>();
  readonly #half = new Map<string, string>();
  /** The nodes as they will be. */
  readonly nodes: NodeProto[] = [];

  constructor(graph: Graph, names: Names, constants: HalfConstants) {
    this.#graph = graph;
    this.#names = names;
    this.#constants = constants;
  }

  /** Notes that a value is there in full precision, under its own name. */
  isFull(name: string): void {
    this.#full.set(name, name);
  }

  /** Notes under which name a value is there in half precision. */
  isHalf(name: string, as: string): void {
    this.#half.set(name, as);
  }

  /** Name under which a float value is to be had in full precision; so are constants, and values of graphs around. */
  full(name: string): string {
    if (this.#graph.initializer(name) !== undefined || !this.#half.has(name)) return name;
    return this.#cast(name, this.#full, this.#half, { to: 'float', suffix: 'float32' });
  }

  /** Name under which a float value is to be had in half precision; constants are converted. */
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

/** Values that must be there in float32 under their own name: outputs, and what bodies of control flow take. */
function fixedNames(graph: Graph): Set<string> {
  const outputs = graph.outputs.map(({ name }) => name);
  return new Set([...outputs, ...graph.nodes.flatMap((node) => [...outerNames(graph, node)])]);
}

/**
 * Turn a Cast to float into one to float16. A Cast of float16 would do nothing, and ONNX Runtime 1.30 takes it for
 * one of its own between two operators that it computes in float: it then refuses the model, or crashes.
 */
function castToHalf(node: NodeProto, isOfFloat: boolean): void {
  if (isOfFloat) {
    node.opType = 'Identity';
    node.attribute = [];
  } else setAttribute(node, 'to', dataTypes.float16);
}

const crashing = 'ONNX Runtime crashes where it swaps axes in half precision before a product with weights';

/** The conversion of a model, graph by graph. */
class Conversion {
  readonly #model: Model;
  readonly #exclude: readonly string[];
  /** Of the values of the main graph, where they were observed. */
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

  /** Converts a graph and the bodies in it, whose inputs and outputs stay float32. `outer` has what is around a body. */
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
    for (const { name } of graph.inputs) if (isFloat(name)) precisions.isFull(name);
    for (const node of graph.nodes) {
      const isLeftOut = isExcluded(node, this.#exclude);
      if (!isLeftOut) for (const body of graph.bodiesOf(node)) this.convert(body, values);
      const own = isLeftOut ? 'the request excludes it' : this.#reason(node, model, values, guards);
      const why = own ?? (swapped.has(node) ? crashing : undefined);
      this.#place(node, { isFloat, precisions, fixed, guards, why });
    }
    graph.nodes = precisions.nodes;
    // Values between operators are declared as float32.
    graph.proto.valueInfo = graph.proto.valueInfo.filter((info) => valueTypeOf(info)?.type !== 'float');
  }

  /** Why a node stays in float32; undefined where it goes to half precision. */
  #reason(
    node: NodeProto,
    model: Model,
    values: ReadonlyMap<string, Value>,
    guards: HalfGuards,
  ): string | undefined {
    // Also of a node that stays for another reason: what it makes may need float32.
    const guarded = guards.reason(node);
    const own = fullPrecisionReason(node);
    if (own !== undefined) return own;
    const open = [...node.input, ...node.output].find((name) => name !== '' && !values.has(name));
    if (open !== undefined) return `the type of ${JSON.stringify(open)} is not known`;
    const isFloat = (name: string): boolean => values.get(name)?.type === 'float';
    return takesHalf(node, model, isFloat) ? guarded : 'it takes or makes float32 only';
  }

  /** Puts a node among those that will be, with the casts that it needs. */
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
 * Converts a model to half precision: constants and the values between operators, in bodies of control flow as well.
 * Inputs and outputs stay float32, so that callers need not change, and so do operators that take float32 only, or whose
 * numbers half precision does not have, with casts around them. What is made of a value of unknown type stays, too.
 * A value that calibration saw beyond half precision stays in float32, with the nodes that make and take it.
 * Constants are converted while the model is saved; the report's errors and warnings are there after that.
 *
 * @throws ModelError where nothing can be converted
 */
export function convertToFloat16(
  model: Model,
  { exclude }: Pick<QuantizeRequest, 'exclude'>,
  report: TransformReport,
  ranges: CalibrationRanges = new Map(),
): void {
  const conversion = new Conversion(model, { exclude, ranges }, report);
  conversion.convert(model.graph, new Map());
  if (conversion.converted === 0) {
    throw new ModelError(
      `float16 has nothing to convert: the model has no float32 constant of an operator that takes half precision.${report.keptText()}`,
    );
  }
  removeUnused(model.graph);
}
