import type { Carried } from '../dependency-graph.ts';
import type { ChannelRule, RuleContext } from './rule-context.ts';

/** Rule of operators with several broadcast inputs and one output. */
export const spread: ChannelRule = (context) => {
  const carried = spreadChannels(context);
  if (carried !== undefined) context.putAll(carried);
};

/**
 * Return the labels of a node with broadcasting inputs (ONNX multidirectional broadcasting). Tie channels that
 * meet, and cut constants along them. If an input does not fit, lock everything and return undefined.
 */
export function spreadChannels(context: RuleContext, ownAxes = 0): Carried | undefined {
  const ranks = context.node.input.map((_, at) => context.rank(at));
  const known = ranks.filter((rank) => rank !== undefined);
  const rank = Math.max(...known);
  const fail = (): undefined => {
    context.lockAsUnknown();
    return undefined;
  };
  if (known.length < ranks.length) return fail();
  const carried = context.node.input.map((_, at) => {
    const own = context.carried(at);
    return own && { axis: own.axis + rank - (ranks[at] ?? 0), labels: own.labels };
  });
  // A single channel broadcasts over all others. It is never removed, because an axis keeps at least one.
  const widest = carried.reduce(
    (best, own) =>
      own !== undefined && (best === undefined || own.labels.length > best.labels.length) ? own : best,
    undefined,
  );
  if (widest === undefined || widest.axis >= rank - ownAxes) return fail();
  const { axis, labels } = widest;
  for (const [at, own] of carried.entries()) {
    const place = axis - rank + (ranks[at] ?? 0);
    const size = place < 0 ? 1 : (context.dims(at)?.[place] ?? 0);
    if (own === undefined) {
      if (size === 1) continue;
      if (context.dependencies.constant(context.node.input[at]) === undefined) {
        context.dependencies.channels.lock(
          labels,
          `${context.label} combines them with a value of fixed size`,
        );
      } else context.cut(at, place, labels);
    } else if (own.axis !== axis) return fail();
    else if (own.labels.length === labels.length) context.dependencies.channels.tieAll(own.labels, labels);
    else if (own.labels.length !== 1) return fail();
  }
  return { axis, labels };
}

/** Rule of operators that keep the shape of their first input. Further inputs are scalars. */
export const pass: ChannelRule = (context) => {
  const carried = context.carried(0);
  if (carried === undefined) context.lockAsUnknown();
  else context.putAll(carried);
};

const unary =
  'Relu LeakyRelu Elu Celu Selu Sigmoid HardSigmoid HardSwish Tanh Softplus Softsign Gelu Mish Swish ThresholdedRelu Shrink Clip Identity Dropout Cast Erf Exp Floor Ceil Round Sqrt Abs Neg Log Sin Cos Tan Asin Acos Atan Sinh Cosh Asinh Acosh Atanh Reciprocal Sign Not IsNaN IsInf';

const combining =
  'Add Sub Mul Div Pow Max Min Sum Mean Mod PRelu Where Equal Greater GreaterOrEqual Less LessOrEqual And Or Xor';

/** Operators that process each channel separately. */
export const elementwiseRules: ReadonlyMap<string, ChannelRule> = new Map([
  ...unary.split(' ').map((name): [string, ChannelRule] => [name, pass]),
  ...combining.split(' ').map((name): [string, ChannelRule] => [name, spread]),
]);

/** Number of last axes of a matrix product that are not batch axes. */
export const batchAxes = 2;
