import { Model, microsoft } from '../file/model.ts';
import { type Dim, valueTypeOf } from '../graph/value-info.ts';
import type { DataTypeName } from '../tensor/data-type.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { elementCount } from '../tensor/tensor.ts';
import { integersOf } from '../tensor/values.ts';
import { elementwiseRules } from './elementwise.ts';
import { microsoftRules } from './microsoft.ts';
import { isPublished, opaqueRules, schemaTypes } from './operator-schema.ts';
import { productRules } from './products.ts';
import { selectingRules } from './selecting.ts';
import { scatteringRules, shapingRules } from './shaping.ts';
import type { InferenceContext, Rule, Value } from './value.ts';

/** Maximum number of elements of a constant that may be a shape. */
const longestShape = 64;

function constantValue(tensor: Tensor): Value {
  const { type, dims } = tensor;
  const isShape =
    (type === 'int64' || type === 'int32') && dims.length <= 1 && elementCount(dims) <= longestShape;
  return { type, dims, elements: isShape ? integersOf(tensor) : undefined };
}

/** Merge the declared and the inferred facts of a value. */
function merged(inferred: Value | undefined, declared: Value | undefined): Value | undefined {
  if (inferred === undefined || declared === undefined) return inferred ?? declared;
  const { dims } = declared;
  if (inferred.dims === undefined || dims === undefined || inferred.dims.length !== dims.length) {
    return { ...inferred, dims: inferred.dims ?? dims };
  }
  return {
    ...inferred,
    dims: inferred.dims.map((dim, at): Dim => (typeof dim === 'number' ? dim : (dims[at] ?? dim))),
  };
}

const ruleOf = (op: string, domain: string): Rule | undefined =>
  (domain === microsoft ? microsoftRules.get(op) : undefined) ??
  elementwiseRules.get(op) ??
  productRules.get(op) ??
  shapingRules.get(op) ??
  selectingRules.get(op) ??
  scatteringRules.get(op) ??
  opaqueRules.get(op);

/** Whether this is a known operator type of ONNX or ONNX Runtime. */
export const isKnownOperator = (op: string): boolean =>
  ruleOf(op, '') !== undefined || microsoftRules.has(op) || isPublished(op);

/** Apply an operator's rule to infer its outputs, with the types that its schema fixes. */
function outputsOf(
  context: InferenceContext,
  types: readonly (DataTypeName | undefined)[],
): (Value | undefined)[] {
  const { node } = context;
  const shaped = ruleOf(node.opType, node.domain)?.(context) ?? [];
  return node.output.map((_, at) => {
    const [value, type] = [shaped[at], types[at] ?? shaped[at]?.type];
    return type === undefined ? undefined : { ...value, dims: value?.dims, type };
  });
}

/**
 * Infer type and shape of the values of a model's graph, from its declarations and, node by node, from the rules
 * of the operators. Dimensions are numbers, symbolic names, or null. `shapes` fixes the shapes of inputs. `outer`
 * contains the outer values of a body. Unknown values are missing.
 */
export function inferValues(
  model: Model,
  shapes: ReadonlyMap<string, readonly number[]> = new Map(),
  outer: ReadonlyMap<string, Value> = new Map(),
): Map<string, Value> {
  const { graph } = model;
  const values = new Map<string, Value>(outer);
  const declared = new Map<string, Value>();
  for (const info of [...graph.proto.valueInfo, ...graph.outputs]) {
    const value = valueTypeOf(info);
    if (value !== undefined) declared.set(info.name, value);
  }
  for (const info of graph.inputs) {
    const value = valueTypeOf(info);
    if (value !== undefined) values.set(info.name, { ...value, dims: shapes.get(info.name) ?? value.dims });
  }
  for (const tensor of graph.initializers.values()) values.set(tensor.name, constantValue(tensor));
  let unnamed = 0;
  // Give each unknown size its own name. If the name occurs again, for example in computed shapes, it is the same
  // size.
  const named = (value: Value): Value => ({
    ...value,
    dims: value.dims?.map((dim) => {
      if (dim !== null) return dim;
      unnamed += 1;
      return `?${unnamed}`;
    }),
  });
  for (const node of graph.nodes) {
    const inputs = node.input.map((name) => values.get(name));
    const types = schemaTypes(
      node,
      model,
      inputs.map((input) => input?.type),
    );
    // An input has the type that the schema derives from the other inputs, regardless of its producer.
    for (const [at, name] of node.input.entries()) {
      const type = types.inputs[at];
      if (name !== '' && type !== undefined && !values.has(name)) values.set(name, { type, dims: undefined });
    }
    const inferBody = (body: Model['graph']) =>
      inferValues(new Model(model.proto, body, model.external), new Map(), values);
    const outputs = outputsOf({ node, model, inputs, values, inferBody }, types.outputs);
    for (const [at, name] of node.output.entries()) {
      if (name === '') continue;
      const value = merged(outputs[at], shapes.size > 0 ? typeOnly(declared.get(name)) : declared.get(name));
      if (value !== undefined) values.set(name, named(value));
    }
  }
  return values;
}

/** Declared shapes may apply to other inputs than the fixed ones. */
const typeOnly = (value: Value | undefined): Value | undefined =>
  value && { type: value.type, dims: undefined };
