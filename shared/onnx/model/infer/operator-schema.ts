import type { Model } from '../file/model.ts';
import { hasAttribute, intAttribute, stringAttribute } from '../graph/attributes.ts';
import { type Dim, valueTypeOf } from '../graph/value-info.ts';
import type { NodeProto } from '../proto/onnx_pb.js';
import { type DataTypeName, dataTypeName, dataTypes } from '../tensor/data-type.ts';
import { microsoftTypes } from './microsoft-types.ts';
import { operatorTypes } from './operator-types.ts';
import type { InferenceContext, Rule, Value } from './value.ts';

/** An input or output of a schema. */
interface Parameter {
  /** Element type; undefined for a type variable or a value that is not a tensor. */
  type: DataTypeName | undefined;
  /** Type variable that several parameters share; undefined for a fixed type. */
  variable: string | undefined;
  /** Whether the parameter repeats, and whether with the same or other types. */
  repeats: 'same' | 'other' | undefined;
  /** The attribute that gives the type, and the default type. */
  attribute: string | undefined;
  otherwise: number;
}

/** The types of an operator in one opset version. */
interface OperatorSchema {
  inputs: readonly Parameter[];
  outputs: readonly Parameter[];
  /** Variables that may be float16. */
  halves: ReadonlySet<string>;
}

const isTypeName = (name: string): name is DataTypeName => Object.hasOwn(dataTypes, name);

function parameterOf(text: string): Parameter {
  const [, name = '', repeated = '', attribute, otherwise = '0'] =
    /^([^*!@]*)([*!]?)(?:@([^=]*)(?:=(\d+))?)?$/.exec(text) ?? [];
  const repeats = repeated === '*' ? 'same' : repeated === '!' ? 'other' : undefined;
  const type = isTypeName(name) ? name : undefined;
  const variable = type === undefined && name !== '-' ? name : undefined;
  return { type, variable, repeats, attribute, otherwise: Number(otherwise) };
}

const listOf = (text: string): Parameter[] => (text === '' ? [] : text.split(',').map(parameterOf));

/** Marks the version from which on an operator no longer exists. */
const takenOut = '>>';

/** Versions of each operator, by `domain:operator`, oldest first. */
const lines = new Map<string, { since: number; text: string }[]>();
const operators = new Set<string>();
for (const line of [operatorTypes, microsoftTypes].flatMap((types) => types.trim().split('\n'))) {
  const [domain = '', operator = '', since = '', text = ''] = line.split(':');
  const key = `${domain}:${operator}`;
  operators.add(operator).add(`${domain}.${operator}`);
  lines.set(key, [...(lines.get(key) ?? []), { since: Number(since), text }]);
}

const parsed = new Map<string, OperatorSchema>();

/** Return whether ONNX or ONNX Runtime publishes an operator of this name, with or without its domain. */
export const isPublished = (operator: string): boolean => operators.has(operator);

/**
 * Return the published text of an operator in a version of its operator set; undefined if it is not in that
 * version.
 */
function textAt(domain: string, operator: string, version: number): string | undefined {
  const versions = lines.get(`${domain}:${operator}`);
  const text = (versions?.findLast(({ since }) => since <= version) ?? versions?.[0])?.text;
  return text === takenOut ? undefined : text;
}

/** Return whether a version of ONNX's operator set has an operator, of ONNX or of ONNX Runtime. */
export const isInOpset = (operator: string, version: number): boolean =>
  textAt('', operator, version) !== undefined;

/**
 * Return the schema of a node's operator; undefined for operators that neither ONNX nor ONNX Runtime publishes.
 */
function schemaOf({ domain, opType }: NodeProto, model: Pick<Model, 'opset'>): OperatorSchema | undefined {
  const text = textAt(domain, opType, model.opset(domain));
  if (text === undefined) return undefined;
  const known = parsed.get(text);
  if (known !== undefined) return known;
  const [inputs = '', outputs = '', halves = ''] = text.split('>');
  const schema = { inputs: listOf(inputs), outputs: listOf(outputs), halves: new Set(halves.split(' ')) };
  parsed.set(text, schema);
  return schema;
}

/** Return the parameter at a position. The last one may repeat. */
function parameterAt(parameters: readonly Parameter[], at: number): Parameter | undefined {
  const last = parameters.at(-1);
  return parameters[at] ?? (last?.repeats === undefined ? undefined : last);
}

/** Return the types of a node's inputs and outputs by its schema; undefined for types that it leaves open. */
export function schemaTypes(
  node: NodeProto,
  model: Pick<Model, 'opset'>,
  inputs: readonly (DataTypeName | undefined)[],
): Record<'inputs' | 'outputs', (DataTypeName | undefined)[]> {
  const schema = schemaOf(node, model);
  if (schema === undefined) return { inputs: [], outputs: [] };
  const bound = new Map<string, DataTypeName>();
  for (const [at, type] of inputs.entries()) {
    const parameter = parameterAt(schema.inputs, at);
    if (type === undefined || parameter?.variable === undefined || parameter.repeats === 'other') continue;
    if (!bound.has(parameter.variable)) bound.set(parameter.variable, type);
  }
  const given = node.input.map((_, at) => {
    const parameter = parameterAt(schema.inputs, at);
    return parameter?.type ?? bound.get(parameter?.variable ?? '');
  });
  const made = node.output.map((_, at) => {
    const parameter = parameterAt(schema.outputs, at);
    if (parameter === undefined) return undefined;
    const named =
      parameter.attribute === undefined
        ? undefined
        : dataTypeName(intAttribute(node, parameter.attribute, parameter.otherwise));
    return named ?? parameter.type ?? bound.get(parameter.variable ?? '');
  });
  return { inputs: given, outputs: made };
}

/** Whether an operator accepts and returns half precision wherever a node has float32. */
export function takesHalf(
  node: NodeProto,
  model: Pick<Model, 'opset'>,
  isFloat: (name: string) => boolean,
): boolean {
  const schema = schemaOf(node, model);
  if (schema === undefined) return false;
  const fits = (names: readonly string[], parameters: readonly Parameter[]): boolean =>
    names.every((name, at) => {
      if (name === '' || !isFloat(name)) return true;
      const variable = parameterAt(parameters, at)?.variable;
      return variable !== undefined && schema.halves.has(variable);
    });
  return fits(node.input, schema.inputs) && fits(node.output, schema.outputs);
}

/**
 * Infer the outputs of a node's body from its declarations or nodes. Both branches of an If have the same types.
 */
function bodyOutputs({ model, node, inferBody }: InferenceContext): (Value | undefined)[] {
  const [body] = model.graph.bodiesOf(node);
  if (body === undefined) return [];
  const declared = body.outputs.map(valueTypeOf);
  if (declared.every((value) => value !== undefined)) return declared;
  const inner = inferBody(body);
  return body.outputs.map(({ name }, at) => declared[at] ?? inner.get(name));
}

/** The branches of an If may return values of different shapes. */
const branches: Rule = (context) => {
  const [first, second] = context.model.graph.bodiesOf(context.node).map(({ outputs }) => outputs);
  return bodyOutputs(context).map((value, at) => {
    const [one, other] = [first?.[at], second?.[at]].map((info) => info && valueTypeOf(info)?.dims);
    const isSame = one !== undefined && one.join() === other?.join() && one.every((dim) => dim !== null);
    return value && { type: value.type, dims: isSame ? value.dims : undefined };
  });
};

/** Stack the results of all iterations along a new first axis. */
const stacked = (value: Value | undefined): Value | undefined =>
  value && { type: value.type, dims: value.dims && ([null, ...value.dims] as readonly Dim[]) };

/** The outputs of a Loop's body: the condition, the carried values, the stacked values. */
const loop: Rule = (context) => {
  const carried = Math.max(0, context.node.input.length - 2);
  return bodyOutputs(context)
    .slice(1)
    .map((value, at) => (at < carried ? value && { type: value.type, dims: undefined } : stacked(value)));
};

/** The outputs of a Scan's body: its states, then the stacked values. */
const scan: Rule = (context) => {
  const stackedInputs = Number(
    context.node.attribute.find(({ name }) => name === 'num_scan_inputs')?.i ?? 0n,
  );
  // Before opset 9, Scan had a batch axis and an additional input.
  if (context.model.opset() < 9)
    return bodyOutputs(context).map((value) => value && { type: value.type, dims: undefined });
  const states = context.node.input.length - stackedInputs;
  return bodyOutputs(context).map((value, at) => (at < states ? value : stacked(value)));
};

const scores: Rule = ({ inputs: [x] }) => [
  { type: 'float', dims: x?.dims?.map((dim, at) => (at === 0 ? dim : null)) },
];

const has = ({ node }: InferenceContext, ...names: readonly string[]): boolean =>
  names.some((name) =>
    node.attribute.some(
      (one) => one.name === name && one.ints.length + one.floats.length + one.strings.length > 0,
    ),
  );

/** Types of a classifier's labels and scores. */
const labelled: Rule = (context) => [
  {
    type: has(context, 'classlabels_ints', 'classlabels_int64s') ? 'int64' : 'string',
    dims: context.inputs[0]?.dims?.slice(0, 1),
  },
  ...(scores(context) ?? []),
];

const valuesOf = { values_floats: 'float', values_int64s: 'int64', values_strings: 'string' } as const;

/**
 * Rule of LabelEncoder and similar operators. The output type is that of the attribute values. Without them,
 * strings become integers, and integers become strings.
 */
const mapped: Rule = (context) => {
  const [x] = context.inputs;
  // The attribute `values_tensor` has its own type, which is not read here.
  if (x === undefined || hasAttribute(context.node, 'values_tensor')) return undefined;
  const named = Object.entries(valuesOf).find(([name]) => has(context, name))?.[1];
  return [{ type: named ?? (x.type === 'string' ? 'int64' : 'string'), dims: x.dims }];
};

const mapTypes: Readonly<Record<string, DataTypeName>> = { TO_STRING: 'string', TO_INT64: 'int64' };

/** Control flow, and the operators of classical models (domain ai.onnx.ml). */
export const opaqueRules: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ['If', branches],
  ['Loop', loop],
  ['Scan', scan],
  ['ArrayFeatureExtractor', ({ inputs: [x] }) => [x && { type: x.type, dims: undefined }]],
  ['LinearClassifier', labelled],
  ['SVMClassifier', labelled],
  ['TreeEnsembleClassifier', labelled],
  ['LinearRegressor', scores],
  ['SVMRegressor', scores],
  ['TreeEnsembleRegressor', scores],
  ['Normalizer', ({ inputs: [x] }) => [x && { type: 'float', dims: x.dims }]],
  ['Scaler', ({ inputs: [x] }) => [x && { type: 'float', dims: x.dims }]],
  ['CategoryMapper', mapped],
  ['LabelEncoder', mapped],
  [
    'CastMap',
    ({ node }) => [{ type: mapTypes[stringAttribute(node, 'cast_to', '')] ?? 'float', dims: undefined }],
  ],
  ['Binarizer', ({ inputs: [x] }) => [x && { type: x.type, dims: x.dims }]],
]);
