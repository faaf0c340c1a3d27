import { normalLogDensity, normalMass, truncatedQuantile } from './normal.ts';

/** One dimension of a density: numbers from 0 to `count` - 1 without an order, or numbers from `low` to `high`. */
export type Axis = ChoicesAxis | RangeAxis;

interface ChoicesAxis {
  kind: 'choices';
  count: number;
}

interface RangeAxis {
  kind: 'range';
  low: number;
  high: number;
  /** Return the interval of all positions that round to the same point as `position`. Undefined if the range has no step. */
  cellOf: ((position: number) => readonly [low: number, high: number]) | undefined;
}

export type Point = readonly number[];

/** Density of points: a mixture of one kernel for each observation, and one for the prior. */
export interface Density {
  /** Draw a point. A range with a step has numbers between its points: round them. */
  draw(random: () => number): Point;
  logDensity(point: Point): number;
}

/**
 * Estimate a density from points: the Parzen estimator of Bergstra et al. (Algorithms for Hyper-Parameter
 * Optimization, NIPS 2011), with the treatment of Optuna's TPESampler (Watanabe, Tree-Structured Parzen Estimator:
 * Understanding Its Algorithm Components, 2023). A kernel is a product over the axes:
 *
 * - A range has a normal distribution around the observation, truncated to the range. Its σ is the distance of the
 *   farther neighbour, at least `(high - low) / min(100, n + 2)` and at most `high - low`, for `n` observations. With
 *   a step the kernel has the mass of the interval that rounds to a point.
 * - Choices have the weight `1 + 1/(n + 1)` at the observation and `1/(n + 1)` elsewhere, normalised.
 * - The prior is a normal distribution around the middle of a range with σ = `high - low`, and all choices alike. It
 *   weighs as much as a recent observation.
 *
 * @param points in the order of their trials; the 25 last weigh 1 each, and the others the less the older they are
 */
export function estimateDensity(axes: readonly Axis[], points: readonly Point[]): Density {
  const weights = [...recency(points.length), 1];
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const logWeights = weights.map((weight) => Math.log(weight / total));
  const factors = axes.map((axis, at) => {
    const observed = points.map((point) => point[at] ?? 0);
    return axis.kind === 'choices' ? choiceKernels(axis.count, observed) : rangeKernels(axis, observed);
  });
  return {
    draw(random) {
      const kernel = pickWeighted(weights, random() * total);
      return factors.map((factor) => factor.draw(kernel, random()));
    },
    logDensity(point) {
      const terms = logWeights.map((logWeight, kernel) =>
        factors.reduce((sum, factor, at) => sum + factor.logDensity(kernel, point[at] ?? 0), logWeight),
      );
      // The prior is positive everywhere, so the largest term is finite.
      const largest = terms.reduce((one, other) => Math.max(one, other));
      return largest + Math.log(terms.reduce((sum, term) => sum + Math.exp(term - largest), 0));
    },
  };
}

/** Kernels of one axis, by number. The last is the prior. */
interface Kernels {
  draw(kernel: number, share: number): number;
  logDensity(kernel: number, position: number): number;
}

/** Return weights of `count` observations: 1 for the 25 last, rising evenly from `1/count` to 1 before. */
function recency(count: number): number[] {
  const old = Math.max(0, count - 25);
  return Array.from({ length: count }, (_, at) => {
    if (at >= old) return 1;
    return old === 1 ? 1 / count : 1 / count + (at / (old - 1)) * (1 - 1 / count);
  });
}

function pickWeighted(weights: readonly number[], share: number): number {
  let left = share;
  const index = weights.findIndex((weight) => {
    left -= weight;
    return left < 0;
  });
  return index < 0 ? weights.length - 1 : index;
}

function choiceKernels(count: number, observed: readonly number[]): Kernels {
  const kernels = observed.length + 1;
  const weightOf = (kernel: number, choice: number): number =>
    kernel === observed.length
      ? 1 / count
      : ((observed[kernel] === choice ? 1 : 0) + 1 / kernels) / (1 + count / kernels);
  return {
    draw: (kernel, share) =>
      pickWeighted(
        Array.from({ length: count }, (_, choice) => weightOf(kernel, choice)),
        share,
      ),
    logDensity: (kernel, choice) => Math.log(weightOf(kernel, choice)),
  };
}

function rangeKernels({ low, high, cellOf }: RangeAxis, observed: readonly number[]): Kernels {
  const widths = [...kernelWidths(low, high, observed), high - low];
  const middles = [...observed, (low + high) / 2];
  const kernels = middles.map((middle, at) => {
    const sigma = widths[at] ?? high - low;
    const inKernel = (position: number): number => (position - middle) / sigma;
    const logMass = Math.log(normalMass(inKernel(low), inKernel(high)));
    return { middle, sigma, inKernel, logMass };
  });
  const kernelAt = (at: number) => {
    const kernel = kernels[at];
    if (kernel === undefined) throw new RangeError(`a density of ${kernels.length} kernels has no ${at}`);
    return kernel;
  };
  return {
    draw(at, share) {
      const { middle, sigma, inKernel } = kernelAt(at);
      return middle + sigma * truncatedQuantile(share, inKernel(low), inKernel(high));
    },
    logDensity(at, position) {
      const { sigma, inKernel, logMass } = kernelAt(at);
      if (cellOf === undefined) return normalLogDensity(inKernel(position)) - Math.log(sigma) - logMass;
      const [left, right] = cellOf(position);
      return Math.log(normalMass(inKernel(left), inKernel(right))) - logMass;
    },
  };
}

/** Return the σ of the kernel of each observation: the distance of its farther neighbour, within bounds. */
function kernelWidths(low: number, high: number, observed: readonly number[]): number[] {
  const least = (high - low) / Math.min(100, observed.length + 2);
  const order = observed.map((_, at) => at).toSorted((a, b) => (observed[a] ?? 0) - (observed[b] ?? 0));
  const sorted = order.map((at) => observed[at] ?? 0);
  const widths = new Array<number>(observed.length);
  for (const [place, at] of order.entries()) {
    const own = sorted[place] ?? 0;
    const isOnly = sorted.length === 1;
    // The ends of the range count as neighbours of a single observation only.
    const before = own - (sorted[place - 1] ?? (isOnly ? low : own));
    const after = (sorted[place + 1] ?? (isOnly ? high : own)) - own;
    widths[at] = Math.min(Math.max(before, after, least), high - low);
  }
  return widths;
}
