import type { ChannelRule, Site } from './site.ts';
import type { Carried } from './survey.ts';

/** How many of the last axes are not repeated over but have a meaning of their own. */
export const batchAxes = 2;

/**
 * What a node with broadcasting inputs carries (ONNX multidirectional broadcasting): channels that meet are tied,
 * constants along them are cut. Undefined where something does not fit, whereupon everything is locked.
 */
export function spreadChannels(site: Site, ownAxes = 0): Carried | undefined {
  const ranks = site.node.input.map((_, at) => site.rank(at));
  const known = ranks.filter((rank) => rank !== undefined);
  const rank = Math.max(...known);
  const fail = (): undefined => {
    site.lockAsUnknown();
    return undefined;
  };
  if (known.length < ranks.length) return fail();
  const carried = site.node.input.map((_, at) => {
    const own = site.carried(at);
    return own && { axis: own.axis + rank - (ranks[at] ?? 0), labels: own.labels };
  });
  // A single channel is spread over all others; it is never removed, because an axis keeps at least one.
  const widest = carried.reduce(
    (best, own) =>
      own !== undefined && (best === undefined || own.labels.length > best.labels.length) ? own : best,
    undefined,
  );
  if (widest === undefined || widest.axis >= rank - ownAxes) return fail();
  const { axis, labels } = widest;
  for (const [at, own] of carried.entries()) {
    const place = axis - rank + (ranks[at] ?? 0);
    const size = place < 0 ? 1 : (site.dims(at)?.[place] ?? 0);
    if (own === undefined) {
      if (size === 1) continue;
      if (site.survey.constant(site.node.input[at]) === undefined) {
        site.survey.channels.lock(labels, `${site.label} combines them with a value of fixed size`);
      } else site.cut(at, place, labels);
    } else if (own.axis !== axis) return fail();
    else if (own.labels.length === labels.length) site.survey.channels.tieAll(own.labels, labels);
    else if (own.labels.length !== 1) return fail();
  }
  return { axis, labels };
}

const spread: ChannelRule = (site) => {
  const carried = spreadChannels(site);
  if (carried !== undefined) site.putAll(carried);
};

/** One value in, the same shape out. Further inputs are scalars. */
const pass: ChannelRule = (site) => {
  const carried = site.carried(0);
  if (carried === undefined) site.lockAsUnknown();
  else site.putAll(carried);
};

const unary =
  'Relu LeakyRelu Elu Celu Selu Sigmoid HardSigmoid HardSwish Tanh Softplus Softsign Gelu FastGelu QuickGelu Mish Swish ThresholdedRelu Shrink Clip Identity Dropout Cast Erf Exp Floor Ceil Round Sqrt Abs Neg Log Sin Cos Tan Asin Acos Atan Sinh Cosh Asinh Acosh Atanh Reciprocal Sign Not IsNaN IsInf';
const combining =
  'Add Sub Mul Div Pow Max Min Sum Mean Mod PRelu Where Equal Greater GreaterOrEqual Less LessOrEqual And Or Xor';

/** Operators that treat each channel for itself. */
export const elementwiseRules: ReadonlyMap<string, ChannelRule> = new Map([
  ...unary.split(' ').map((name): [string, ChannelRule] => [name, pass]),
  ...combining.split(' ').map((name): [string, ChannelRule] => [name, spread]),
]);
