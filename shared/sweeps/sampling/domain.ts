import type { SweepParameter } from '../spec/parameter.ts';
import type { Params } from '../types.ts';
import { latticePoint, latticeSize } from './lattice.ts';

/** Values that a parameter can take. */
export type Domain = Choices | Range;

/** Listed values without an order. */
export interface Choices {
  kind: 'choices';
  values: readonly Params[string][];
}

/** Numbers from `min` to `max`: all of them, or only `min` plus multiples of `step`. */
export interface Range {
  kind: 'range';
  min: number;
  max: number;
  step: number | undefined;
  isLog: boolean;
}

/** Return the domain of a valid parameter. */
export function domainOf({ values, value, min, max, step, scale }: SweepParameter): Domain {
  if (values !== undefined) return { kind: 'choices', values };
  if (value !== undefined) return { kind: 'choices', values: [value] };
  if (min === undefined || max === undefined) throw new Error('a parameter has no values');
  return { kind: 'range', min, max, step, isLog: scale === 'log' };
}

/** Return the domain's values if they can be counted; undefined for a range without a step. */
export const sizeOf = (domain: Domain): number | undefined => {
  if (domain.kind === 'choices') return domain.values.length;
  return domain.step === undefined ? undefined : latticeSize({ ...domain, step: domain.step });
};

/** Return one of the countable values of a domain. */
export function valueAt(domain: Domain, at: number): Params[string] {
  if (domain.kind === 'range') return latticePoint({ ...domain, step: domain.step ?? 1 }, at);
  const value = domain.values[at];
  if (value === undefined) throw new RangeError(`a domain of ${domain.values.length} values has no ${at}`);
  return value;
}

/**
 * Return the value at a share of the domain: a uniform share in [0, 1) makes each choice, each point of a step and,
 * on a log scale, each order of magnitude equally likely. With a step on a log scale, a point has the share of the
 * interval from half a step below it to half a step above.
 */
export function valueAtShare(domain: Domain, share: number): Params[string] {
  const count = sizeOf(domain);
  if (domain.kind === 'choices' || (count !== undefined && !domain.isLog))
    return valueAt(domain, Math.min(Math.floor(share * (count ?? 1)), (count ?? 1) - 1));
  const [low, high] = bounds(domain);
  return outward(domain, low + share * (high - low));
}

/**
 * Return the ends of a range as the samplers see it: of the logarithms on a log scale; with a step, half a step
 * wider on both sides, so that the outer points weigh as much as the inner ones.
 */
export function bounds({ min, max, step, isLog }: Range): readonly [low: number, high: number] {
  const last = step === undefined ? max : latticePoint({ min, step }, latticeSize({ min, max, step }) - 1);
  const half = (step ?? 0) / 2;
  // A log range whose first point is smaller than half a step ends at half that point.
  const low = isLog ? Math.max(min - half, min / 2) : min - half;
  return isLog ? [Math.log(step === undefined ? min : low), Math.log(last + half)] : [low, last + half];
}

/** Return where a value of a range lies between its {@link bounds}. */
export const inward = ({ isLog }: Range, value: number): number => (isLog ? Math.log(value) : value);

/** Return the value of a range for a position between its {@link bounds}: the nearest point if it has a step. */
export function outward(range: Range, position: number): number {
  const { min, max, step, isLog } = range;
  const exact = isLog ? Math.exp(position) : position;
  if (step === undefined) return readable(range, Math.min(Math.max(exact, min), max));
  const lattice = { min, max, step };
  const at = Math.round((exact - min) / step);
  return latticePoint(lattice, Math.min(Math.max(at, 0), latticeSize(lattice) - 1));
}

/** Return the shortest decimal within a millionth of the range, so that people can read and type it. */
function readable(range: Range, exact: number): number {
  const [low, high] = bounds(range);
  const allowed = (high - low) * 1e-6;
  for (let digits = 1; digits < 17; digits += 1) {
    const short = Number(exact.toPrecision(digits));
    const isInside = short >= range.min && short <= range.max;
    if (isInside && Math.abs(inward(range, short) - inward(range, exact)) <= allowed) return short;
  }
  return exact;
}
