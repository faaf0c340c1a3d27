import { type Dim, valueTypeOf } from '../graph/value-info.ts';
import type { InferenceContext, Rule, Value } from './value.ts';

/** The outputs of a node's body, as it declares them or by its nodes; both branches of an If have the same types. */
function bodyOutputs({ model, node, inferBody }: InferenceContext): (Value | undefined)[] {
  const [body] = model.graph.bodiesOf(node);
  if (body === undefined) return [];
  const declared = body.outputs.map(valueTypeOf);
  if (declared.every((value) => value !== undefined)) return declared;
  const inner = inferBody(body);
  return body.outputs.map(({ name }, at) => declared[at] ?? inner.get(name));
}

/** The branches of an If may make values of unlike shapes. */
const branches: Rule = (context) => {
  const [first, second] = context.model.graph.bodiesOf(context.node).map(({ outputs }) => outputs);
  return bodyOutputs(context).map((value, at) => {
    const [one, other] = [first?.[at], second?.[at]].map((info) => info && valueTypeOf(info)?.dims);
    const isSame = one !== undefined && one.join() === other?.join() && one.every((dim) => dim !== null);
    return value && { type: value.type, dims: isSame ? value.dims : undefined };
  });
};

/** A result of each round, one behind the other. */
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
  // Before version 9 there was a batch, and an input more.
  if (context.model.opset() < 9)
    return bodyOutputs(context).map((value) => value && { type: value.type, dims: undefined });
  const states = context.node.input.length - stackedInputs;
  return bodyOutputs(context).map((value, at) => (at < states ? value : stacked(value)));
};

const scores: Rule = ({ inputs: [x] }) => [
  { type: 'float', dims: x?.dims?.map((dim, at) => (at === 0 ? dim : null)) },
];
const labelled: Rule = (context) => [undefined, ...(scores(context) ?? [])];

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
  ['Binarizer', ({ inputs: [x] }) => [x && { type: x.type, dims: x.dims }]],
]);
