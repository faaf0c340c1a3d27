import { intAttribute } from '../graph/attributes.ts';
import type { Dim } from '../graph/value-info.ts';
import { type DataTypeName, dataTypeName } from '../tensor/data-type.ts';
import { axisOf, broadcast, isKnown, type Rule, type Value } from './value.ts';

const same: Rule = ({ inputs: [x] }) => [x && { type: x.type, dims: x.dims }];

const arithmetic: Readonly<Record<string, (a: number, b: number) => number>> = {
  Add: (a, b) => a + b,
  Sub: (a, b) => a - b,
  Mul: (a, b) => a * b,
  Div: (a, b) => Math.trunc(a / b),
  Mod: (a, b) => (b === 0 ? 0 : a - b * Math.floor(a / b)),
  Max: Math.max,
  Min: Math.min,
};

/** Elements of integer arithmetic on shapes. A scalar combines with a vector. */
function elementsOf(op: string, a: Value | undefined, b: Value | undefined): readonly Dim[] | undefined {
  const compute = arithmetic[op];
  const [x, y] = [a?.elements, b?.elements];
  if (compute === undefined || x === undefined || y === undefined) return undefined;
  if (x.length !== y.length && x.length !== 1 && y.length !== 1) return undefined;
  return Array.from({ length: Math.max(x.length, y.length) }, (_, at) => {
    const [p, q] = [x[x.length === 1 ? 0 : at], y[y.length === 1 ? 0 : at]];
    return isKnown(p) && isKnown(q) ? compute(p, q) : null;
  });
}

const spread =
  (type?: DataTypeName): Rule =>
  ({ node, inputs }) => {
    const known = inputs.filter((input) => input !== undefined);
    const [first] = known;
    if (first === undefined || known.length < inputs.length)
      return [first && { type: type ?? first.type, dims: undefined }];
    const dims = known.map((input) => input.dims).reduce(broadcast);
    return [{ type: type ?? first.type, dims, elements: elementsOf(node.opType, inputs[0], inputs[1]) }];
  };

const cast: Rule = ({ node, inputs: [x] }) => {
  const type = dataTypeName(intAttribute(node, 'to', 0));
  return [type && { type, dims: x?.dims, elements: x?.elements }];
};

const quantize: Rule = ({ inputs: [x, , zero] }) => [x && { type: zero?.type ?? 'uint8', dims: x.dims }];
const dequantize: Rule = ({ inputs: [x, scale] }) => [x && { type: scale?.type ?? 'float', dims: x.dims }];
const dynamicQuantize: Rule = ({ inputs: [x] }) => [
  { type: 'uint8', dims: x?.dims },
  { type: 'float', dims: [] },
  { type: 'uint8', dims: [] },
];

/** Compare elements of two shapes: 1 if equal, 0 if not, null if unknown. */
function equalElements(x: readonly Dim[] | undefined, y: readonly Dim[] | undefined): Dim[] | undefined {
  if (x === undefined || y === undefined || (x.length !== y.length && x.length !== 1 && y.length !== 1))
    return undefined;
  return Array.from({ length: Math.max(x.length, y.length) }, (_, at) => {
    const [p, q] = [x[x.length === 1 ? 0 : at], y[y.length === 1 ? 0 : at]];
    if (isKnown(p) && isKnown(q)) return p === q ? 1 : 0;
    // A size is never negative: exporters compare it with -1.
    return (typeof p === 'string' && isKnown(q) && q < 0) || (typeof q === 'string' && isKnown(p) && p < 0)
      ? 0
      : null;
  });
}

const equal: Rule = ({ inputs: [a, b] }) => [
  a && { type: 'bool', dims: broadcast(a.dims, b?.dims), elements: equalElements(a.elements, b?.elements) },
];

const where: Rule = ({ inputs: [condition, a, b] }) => {
  const [yes, no] = [a?.elements, b?.elements];
  const elements = condition?.elements?.map((is, at): Dim => {
    const chosen = is === 1 ? yes : is === 0 ? no : undefined;
    return chosen?.[chosen.length === 1 ? 0 : at] ?? null;
  });
  const isShape = yes !== undefined && no !== undefined;
  return [
    a && {
      type: a.type,
      dims: broadcast(broadcast(condition?.dims, a.dims), b?.dims),
      elements: isShape ? elements : undefined,
    },
  ];
};

const unary =
  'Erf Exp Floor Ceil Round Sqrt Abs Neg Log Sin Cos Tan Asin Acos Atan Sinh Cosh Asinh Acosh Atanh Reciprocal Sign Not BitwiseNot';
const activations =
  'Relu LeakyRelu Elu Celu Selu Sigmoid HardSigmoid HardSwish Tanh Softplus Softsign Softmax LogSoftmax Hardmax Gelu Mish Swish ThresholdedRelu Clip Shrink PRelu LpNormalization MeanVarianceNormalization InstanceNormalization GroupNormalization LRN CumSum Trilu EyeLike Bernoulli RandomNormalLike RandomUniformLike';

const table = (names: string, rule: Rule): [string, Rule][] => names.split(' ').map((name) => [name, rule]);

const identity: Rule = ({ inputs: [x] }) => [x && { ...x }];

/** Before opset 10 the mask had the input's type. */
const dropout: Rule = ({ model, inputs: [x] }) => {
  const same = x && { type: x.type, dims: x.dims };
  return [same, x && { type: model.opset() < 10 ? x.type : 'bool', dims: x.dims }];
};

/** Statistics of a normalization over the axes from `axis` on, in float32. */
export const normStatistics = (x: Value | undefined, axis: number): Value => ({
  type: 'float',
  dims: x?.dims?.map((dim, at, all) => (at >= axisOf(axis, all.length) ? 1 : dim)),
});

/** The normalized values, mean and inverse deviation. */
const layerNormalization: Rule = ({ node, inputs: [x] }) => {
  const statistics = normStatistics(x, intAttribute(node, 'axis', -1));
  return [x && { type: x.type, dims: x.dims }, statistics, statistics];
};

const isNanLike: Rule = ({ inputs: [x] }) => [x && { type: 'bool', dims: x.dims }];

/** Operators whose result has the broadcast shape of their inputs. */
export const elementwiseRules: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ...table(unary, same),
  ...table(activations, same),
  ['BatchNormalization', same],
  ['Identity', identity],
  ['Dropout', dropout],
  ...table('Add Sub Mul Div Pow Max Min Sum Mean Mod BitShift BitwiseAnd BitwiseOr BitwiseXor', spread()),
  ...table('Greater GreaterOrEqual Less LessOrEqual And Or Xor', spread('bool')),
  ['Equal', equal],
  ['IsNaN', isNanLike],
  ['IsInf', isNanLike],
  ['Cast', cast],
  ['CastLike', ({ inputs: [x, like] }) => [like && { type: like.type, dims: x?.dims }]],
  ['Where', where],
  ['QuantizeLinear', quantize],
  ['DequantizeLinear', dequantize],
  ['DynamicQuantizeLinear', dynamicQuantize],
  ['LayerNormalization', layerNormalization],
  ['RMSNormalization', same],
  ['SimplifiedLayerNormalization', layerNormalization],
]);
