import { valueText } from '../drawing/number-text.ts';
import type { Gate, GateVerdict } from './gate.ts';

/** Last values of a metric: of the runs to judge, and of those on the base. */
export interface MetricValues {
  head: readonly number[];
  /** Null without a base. */
  base: readonly number[] | null;
  /** Of runs of the same settings on the commits before the base, one for each commit, the newest first. */
  earlier?: readonly number[];
}

/**
 * Judge a metric by the means of its runs. A gate fails only if the mean is beyond the bound by more than the noise of
 * the runs: the half of a 99.8 % interval of Student's t, from their pooled deviation. Where no configuration ran twice,
 * the noise is that of {@link noiseOfOne}.
 */
export function judgeMetric(gate: Gate, { head, base, earlier = [] }: MetricValues): GateVerdict {
  const { kind, value } = gate.bound;
  const isRelative = kind !== 'value';
  const known = base?.filter(Number.isFinite) ?? [];
  if (head.length === 0 || (isRelative && known.length === 0))
    return { ...verdictOf(gate, 'unmeasured'), measured: 'not measured', allowed: gate.text };
  const mean = meanOf(head);
  const from = isRelative ? meanOf(known) : 0;
  const bound = kind === 'factor' ? from * value : from + value;
  const shown = {
    measured: `${valueText(mean)}${countText(head.length)}`,
    allowed: `at ${gate.sign === '>=' ? 'least' : 'most'} ${valueText(bound)}`,
  };
  if (!Number.isFinite(mean)) return { ...verdictOf(gate, 'failed'), ...shown };
  const beyond = (gate.sign === '>=' ? bound - mean : mean - bound) - rounding * Math.abs(bound);
  const weight = isRelative ? (kind === 'factor' ? value : 1) : 0;
  const noise = noiseOf(head, isRelative ? known : [], weight);
  const isOne = noise === null;
  const before = [from, ...earlier.filter(Number.isFinite)];
  const alone = isRelative ? noiseOfOne(gate.sign, before, shareOf(head, known, weight)) : undefined;
  const width = noise ?? alone?.width ?? 0;
  const note = isOne
    ? oneRunText(
        alone,
        gate.sign === '>=' ? `down to ${valueText(bound - width)}` : `up to ${valueText(bound + width)}`,
      )
    : `noise ±${valueText(width)} over ${runsText(head, known)}`;
  const verdict =
    beyond > width ? 'failed' : beyond <= 0 && (isOne || -beyond >= width) ? 'passed' : 'undecided';
  const within = verdict === 'undecided' && !isOne ? `within ${note}` : note;
  return { ...verdictOf(gate, verdict), ...shown, note: within };
}

const verdictOf = ({ text }: Gate, verdict: GateVerdict['verdict']) => ({
  ...{ gate: text, verdict },
  holds: verdict === 'passed' || verdict === 'undecided',
});

/** Share of the bound for rounding of numbers. */
const rounding = 1e-9;

export const meanOf = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

/**
 * The noise of `mean(head) - weight * mean(base)`: the smaller one of that of all runs, and that of the base's runs alone. A
 * head that has become unsteady does not hide behind its own noise. Null if it is not known: without two runs of a side,
 * and if all runs of each side agree by chance, as rounded accuracies do.
 */
function noiseOf(head: readonly number[], base: readonly number[], weight: number): number | null {
  const share = shareOf(head, base, weight);
  const widths = [[head, base], [base]].flatMap((sides) => {
    const width = widthOf(sides, share);
    return width === null ? [] : [width];
  });
  return widths.length === 0 ? null : Math.min(...widths);
}

/** Variance of `mean(head) - weight * mean(base)`, in variances of one run. */
const shareOf = (head: readonly number[], base: readonly number[], weight: number): number =>
  1 / head.length + (base.length === 0 ? 0 : weight ** 2 / base.length);

/**
 * Noise of one run each: the smaller one of what {@link usualNoise} allows, and of what at least six commits of the target
 * branch tell. Their deviation is that of neighbours (von Neumann): a change on the way widens it once, a slow one hardly.
 * Of equal neighbours one counts: with a fixed seed a commit that changes no training repeats its value, without any noise.
 */
function noiseOfOne(
  sign: Gate['sign'],
  commits: readonly number[],
  share: number,
): { width: number; commits: number | undefined } {
  const usual = usualNoise(sign, commits[0] ?? 0);
  const values = commits.filter((value, at) => value !== commits[at - 1]);
  const count = values.length;
  const freedom = Math.floor((2 * (count - 1) ** 2) / (3 * count - 4));
  if (freedom < leastFreedom) return { width: usual, commits: undefined };
  const squares = values.slice(1).reduce((sum, value, at) => sum + (value - (values[at] ?? value)) ** 2, 0);
  const width = quantileOf(freedom) * Math.sqrt((squares / (2 * (count - 1))) * share);
  return width > 0 && width < usual ? { width, commits: count } : { width: usual, commits: undefined };
}

const leastFreedom = 3;

/**
 * Difference that a gate must exceed where nothing tells the noise. Losses spread far: of two trainings of
 * `test/examples/hello` with other seeds, 1 in 70 has three times the val_loss of the other one. Shares of successes, such
 * as accuracies, do not. Nothing is a multiple of 0.
 */
function usualNoise(sign: Gate['sign'], base: number): number {
  if (base === 0) return Number.POSITIVE_INFINITY;
  const isShare = base >= 0.5 && base <= 1;
  return Math.abs(base) * (sign === '<=' ? 3 : isShare ? 0.1 : 0.75);
}

/** Return the half of the interval from the pooled deviation of these runs; null if it cannot be told. */
function widthOf(sides: readonly (readonly number[])[], share: number): number | null {
  const squares = (values: readonly number[]) => {
    const mean = meanOf(values);
    return values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  };
  const freedom = sides.reduce((sum, values) => sum + Math.max(0, values.length - 1), 0);
  if (freedom === 0) return null;
  const sum = sides.reduce((total, values) => total + (values.length === 0 ? 0 : squares(values)), 0);
  return sum > 0 ? quantileOf(freedom) * Math.sqrt((sum / freedom) * share) : null;
}

/** Quantiles 0.999 of Student's t by degrees of freedom, the last for all above. */
const quantiles: readonly (readonly [freedom: number, quantile: number])[] = [
  [1, 318.31],
  [2, 22.327],
  [3, 10.215],
  [4, 7.173],
  [5, 5.893],
  [6, 5.208],
  [7, 4.785],
  [8, 4.501],
  [9, 4.297],
  [10, 4.144],
  [12, 3.93],
  [15, 3.733],
  [20, 3.552],
  [30, 3.385],
  [60, 3.232],
];

const quantileOf = (freedom: number): number =>
  quantiles.findLast(([least]) => least <= freedom)?.[1] ?? Number.POSITIVE_INFINITY;

const countText = (runs: number): string => (runs === 1 ? '' : ` (mean of ${runs})`);

const runsText = (head: readonly number[], base: readonly number[]): string =>
  base.length === 0 ? `${head.length} runs` : `${head.length} and ${base.length} runs`;

function oneRunText(alone: ReturnType<typeof noiseOfOne> | undefined, values: string): string {
  if (alone === undefined) return 'one run, or equal ones: the noise is not known';
  const { width, commits } = alone;
  if (commits !== undefined)
    return `one run each; noise ±${valueText(width)} from ${commits} commits of the base`;
  const may = Number.isFinite(width) ? `values ${values}` : 'any value';
  return `one run each, or equal ones: the noise is not known, and ${may} may be noise; repeats tell it`;
}
