import { setAttribute } from '../graph/attributes.ts';
import type { Graph } from '../graph/graph.ts';
import { outerNames } from '../graph/graph-index.ts';
import { makeNode } from '../graph/make-node.ts';
import { Names } from '../graph/names.ts';
import { isExcluded, nodeName } from '../graph/node-names.ts';
import { removeUnused } from '../graph/remove-unused.ts';
import { valueTypeOf } from '../graph/value-info.ts';
import { inferValues } from '../infer/infer-values.ts';
import type { Model } from '../model/model.ts';
import { ModelError } from '../model-error.ts';
import type { NodeProto } from '../proto/onnx_pb.js';
import type { QuantizeRequest } from '../strategies/quantize-request.ts';
import { dataTypes } from '../tensor/data-type.ts';
import { elementCount, type Tensor } from '../tensor/tensor.ts';
import type { LayerChange, TransformReport } from '../transform/report.ts';
import { fullPrecisionReason } from './half-operators.ts';
import { halfTensor } from './half-tensor.ts';

/** Smallest constant that is worth a line in the receipt. */
const leastLayer = 16;

/** Gives each value out in the precision that its user takes, with one Cast at most. */
class Precisions {
  readonly #graph: Graph;
  readonly #names: Names;
  readonly #report: TransformReport;
  /** The name of a value in each precision, as far as there is one. */
  readonly #full = new Map<string, string>();
  readonly #half = new Map<string, string>();
  /** The nodes as they will be. */
  readonly nodes: NodeProto[] = [];

  constructor(graph: Graph, names: Names, report: TransformReport) {
    this.#graph = graph;
    this.#names = names;
    this.#report = report;
  }

  /** Notes that a value is there in full precision, under its own name. */
  isFull(name: string): void {
    this.#full.set(name, name);
  }

  /** Notes under which name a value is there in half precision. */
  isHalf(name: string, as: string): void {
    this.#half.set(name, as);
  }

  /** Name under which a float value is to be had in full precision. */
  full(name: string): string {
    if (this.#graph.initializers.has(name)) return name;
    return this.#cast(name, this.#full, this.#half, { to: 'float', suffix: 'float32' });
  }

  /** Name under which a float value is to be had in half precision; constants are converted. */
  half(name: string, user: NodeProto): string {
    const tensor = this.#graph.initializers.get(name);
    const known = this.#half.get(name);
    if (tensor === undefined || known !== undefined) {
      return known ?? this.#cast(name, this.#half, this.#full, { to: 'float16', suffix: 'float16' });
    }
    const half = this.#names.make(`${name}_float16`);
    this.#graph.put(halfTensor(tensor, half, this.#report, this.#layer(tensor, user)));
    this.#half.set(name, half);
    return half;
  }

  #layer(tensor: Tensor, user: NodeProto): LayerChange | undefined {
    const parameters = elementCount(tensor.dims);
    if (parameters < leastLayer) return undefined;
    const layer = {
      layer: nodeName(user),
      operator: user.opType,
      weight: tensor.name,
      parameters_before: parameters,
      parameters_after: parameters,
      nonzero_before: null,
      nonzero_after: null,
      error: null,
    };
    this.#report.layers.push(layer);
    return layer;
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

/**
 * Converts a model to half precision: constants and the values between operators. Inputs and outputs stay float32, so
 * that callers need not change, and so do operators that would overflow, with casts around them. Constants are
 * converted while the model is saved; the report's errors and warnings are there after that.
 *
 * @throws ModelError where an operator is unknown, and so the type of its result
 */
export function convertToFloat16(
  model: Model,
  { exclude }: Pick<QuantizeRequest, 'exclude'>,
  report: TransformReport,
): void {
  const { graph } = model;
  const values = inferValues(model);
  const isFloat = (name: string): boolean => values.get(name)?.type === 'float';
  const names = new Names(graph);
  const precisions = new Precisions(graph, names, report);
  const fixed = fixedNames(graph);
  for (const { name } of graph.inputs) if (isFloat(name)) precisions.isFull(name);

  for (const node of graph.nodes) {
    const unknown = node.output.find((name) => name !== '' && !values.has(name));
    const why = isExcluded(node, exclude) ? 'the request excludes it' : fullPrecisionReason(node);
    if (unknown !== undefined && why === undefined) {
      throw new ModelError(
        `The type of ${JSON.stringify(unknown)}, made by ${node.opType}, is unknown; exclude ${node.opType}, or export the model with the types of its values.`,
      );
    }
    const isTouched = [...node.input, ...node.output].some(isFloat);
    if (why !== undefined && isTouched) report.keep(nodeName(node), why);
    const take = (name: string): string => {
      if (!isFloat(name)) return name;
      return why === undefined ? precisions.half(name, node) : precisions.full(name);
    };
    if (why === undefined && node.opType === 'Cast' && isFloat(node.output[0] ?? '')) {
      castToHalf(node, isFloat(node.input[0] ?? ''));
    }
    node.input = node.input.map(take);
    const casts: NodeProto[] = [];
    node.output = node.output.map((name) => {
      if (name === '' || !isFloat(name)) return name;
      if (why !== undefined) precisions.isFull(name);
      else if (!fixed.has(name)) precisions.isHalf(name, name);
      else {
        const half = names.make(`${name}_float16`);
        precisions.isHalf(name, half);
        precisions.isFull(name);
        casts.push(
          makeNode('Cast', [half], [name], {
            name: names.make(`${name}_cast`),
            attributes: { to: dataTypes.float },
          }),
        );
        return half;
      }
      return name;
    });
    precisions.nodes.push(node, ...casts);
  }
  graph.nodes = precisions.nodes;
  // Values between operators are declared as float32.
  graph.proto.valueInfo = graph.proto.valueInfo.filter((info) => valueTypeOf(info)?.type !== 'float');
  removeUnused(graph);
}
