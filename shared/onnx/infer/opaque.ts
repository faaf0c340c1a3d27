import { type Dim, valueTypeOf } from '../graph/value-info.ts';
import type { InferenceContext, Rule, Value } from './value.ts';

/** The declared outputs of a node's body; both branches of an If declare the same. */
function bodyOutputs({ model, node }: InferenceContext): (Value | undefined)[] {
  const [body] = model.graph.bodiesOf(node);
  return body?.outputs.map(valueTypeOf) ?? [];
}

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
  const states = context.node.input.length - stackedInputs;
  return bodyOutputs(context).map((value, at) => (at < states ? value : stacked(value)));
};

const scores: Rule = ({ inputs: [x] }) => [
  { type: 'float', dims: x?.dims?.map((dim, at) => (at === 0 ? dim : null)) },
];
const labelled: Rule = (context) => [undefined, ...(scores(context) ?? [])];

/** Control flow, and the operators of classical models (domain ai.onnx.ml). */
export const opaqueRules: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ['If', bodyOutputs],
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
