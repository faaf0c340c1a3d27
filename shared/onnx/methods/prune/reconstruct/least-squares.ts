import { choleskyInPlace } from '../../../model/tensor/cholesky.ts';

/**
 * Return the rows to add to the kept rows of a weight, which make the kept channels compensate for the removed
 * ones: (C_SS + λI)⁻¹ C_SR W_R with the covariance or second moment C of the channels (n × n) and the weight W (n
 * × width). This minimizes the expected squared error of the output, with a small ridge for channels that few
 * samples distinguish. Undefined if C contains values that are not finite.
 */
export function compensation(
  moment: Float64Array,
  n: number,
  weights: Float64Array,
  kept: readonly number[],
  removed: readonly number[],
): Float64Array | undefined {
  const [m, width] = [kept.length, n === 0 ? 0 : weights.length / n];
  const result = new Float64Array(m * width);
  for (const [row, p] of kept.entries()) {
    const sums = result.subarray(row * width, (row + 1) * width);
    for (const q of removed) {
      const factor = moment[p * n + q] ?? 0;
      if (factor === 0) continue;
      const other = weights.subarray(q * width, (q + 1) * width);
      for (let at = 0; at < width; at += 1) sums[at] = (sums[at] ?? 0) + factor * (other[at] ?? 0);
    }
  }
  const factor = factored(moment, n, kept);
  if (factor === undefined) return undefined;
  for (let row = 0; row < m; row += 1) eliminate(result, width, factor, m, row, 'forward');
  for (let row = m - 1; row >= 0; row -= 1) eliminate(result, width, factor, m, row, 'backward');
  return result;
}

/** Ridge as a share of the mean variance of the kept channels. It grows tenfold until it suffices. */
const firstRidge = 1e-3;

const maxRidge = 1e3;

/**
 * Return the Cholesky factor of the kept channels' submatrix, with the smallest sufficient ridge in steps of ten.
 */
function factored(moment: Float64Array, n: number, kept: readonly number[]): Float64Array | undefined {
  const m = kept.length;
  const mean = kept.reduce((sum, place) => sum + (moment[place * n + place] ?? 0), 0) / Math.max(1, m);
  // Constant channels do not predict the others.
  const unit = mean > 0 ? mean : 1;
  for (let ridge = firstRidge; ridge <= maxRidge; ridge *= 10) {
    const part = new Float64Array(m * m);
    for (const [row, p] of kept.entries()) {
      for (let column = 0; column <= row; column += 1)
        part[row * m + column] = moment[p * n + (kept[column] ?? 0)] ?? 0;
      part[row * m + row] = (part[row * m + row] ?? 0) + ridge * unit;
    }
    if (choleskyInPlace(part, m)) return part;
  }
  return undefined;
}

/** Compute one row of the solution of L X = B, or of Lᵀ X = B. */
function eliminate(
  values: Float64Array,
  width: number,
  factor: Float64Array,
  m: number,
  row: number,
  direction: 'forward' | 'backward',
): void {
  const own = values.subarray(row * width, (row + 1) * width);
  const [from, to] = direction === 'forward' ? [0, row] : [row + 1, m];
  for (let other = from; other < to; other += 1) {
    const by = (direction === 'forward' ? factor[row * m + other] : factor[other * m + row]) ?? 0;
    const known = values.subarray(other * width, (other + 1) * width);
    for (let at = 0; at < width; at += 1) own[at] = (own[at] ?? 0) - by * (known[at] ?? 0);
  }
  const pivot = factor[row * m + row] ?? 1;
  for (let at = 0; at < width; at += 1) own[at] = (own[at] ?? 0) / pivot;
}

/** Blocks of E and H for the channels of one set, m × m. */
interface Block {
  places: readonly number[];
  error: Float64Array;
  weighted: Float64Array;
}

/** Share of a channel's variance below which the other channels count as explaining it fully. */
const explained = 1e-9;

/**
 * Greedily choose the channels of a layer's input X that the layer's output needs most. Let E be the covariance of
 * X, and W the layer's weight with a row for each channel. If only the channels S are kept, and least squares
 * predicts the others from them, the squared error of the output is tr(Wᵀ E′ W) with the Schur complement E′ = E −
 * E_:S (E_SS)⁻¹ E_S:. Keeping a set B as well lowers it by tr((E′_BB)⁻¹ (E′WWᵀE′)_BB). Both matrices are updated
 * as in a pivoted Cholesky factorization: by the columns of the chosen channels, and by blocks on the diagonal
 * (Harbrecht, Peters and Schneider, "On the low-rank approximation by the pivoted Cholesky decomposition", 2012).
 * Here the pivot is the one that lowers the weighted error most, as in optimal brain surgery.
 */
export class PivotedCholesky {
  /**
   * tr(Wᵀ E W): the total variance of the layer's outputs. Each output is scaled to variance 1, so this is the
   * number of outputs that vary.
   */
  readonly energy: number;
  readonly #count: number;
  readonly #width: number;
  readonly #covariance: Float64Array;
  /** E W. Dot products of its rows give H = E W Wᵀ E. */
  readonly #product: Float64Array;
  readonly #floor: Float64Array;
  /** Scaled columns of E and H for the chosen channels, one row each. */
  readonly #error: Float64Array[] = [];
  readonly #weighted: Float64Array[] = [];
  readonly #spread: number[] = [];
  readonly #blocks = new Map<number, Block>();

  /**
   * `covariance` is n × n. `weights` is n × width; each output has `kernel` of its columns. `sets` maps each set
   * to its channels.
   */
  constructor(
    covariance: Float64Array,
    weights: Float64Array,
    count: number,
    sets: ReadonlyMap<number, readonly number[]>,
    kernel = 1,
  ) {
    this.#count = count;
    this.#width = count === 0 ? 0 : weights.length / count;
    this.#covariance = covariance;
    this.#product = new Float64Array(weights.length);
    for (let row = 0; row < count; row += 1) {
      const sums = this.#row(row);
      for (let at = 0; at < count; at += 1) {
        const factor = covariance[row * count + at] ?? 0;
        const other = weights.subarray(at * this.#width, (at + 1) * this.#width);
        if (factor !== 0)
          for (let column = 0; column < sums.length; column += 1)
            sums[column] = (sums[column] ?? 0) + factor * (other[column] ?? 0);
      }
    }
    this.energy = this.#equalize(weights, kernel);
    this.#floor = Float64Array.from(
      { length: count },
      (_, at) => explained * (covariance[at * count + at] ?? 0),
    );
    for (const [set, places] of sets) this.#blocks.set(set, this.#block(places));
  }

  /**
   * Scale every output to variance 1, to keep a few large outputs from dominating. Return the number of outputs
   * that vary.
   */
  #equalize(weights: Float64Array, kernel: number): number {
    const variances = new Float64Array(this.#width / kernel);
    for (let at = 0; at < weights.length; at += 1) {
      const output = Math.floor((at % this.#width) / kernel);
      variances[output] = (variances[output] ?? 0) + (weights[at] ?? 0) * (this.#product[at] ?? 0);
    }
    const factors = variances.map((variance) => (variance > 0 ? 1 / Math.sqrt(variance) : 0));
    for (let at = 0; at < weights.length; at += 1)
      this.#product[at] = (this.#product[at] ?? 0) * (factors[Math.floor((at % this.#width) / kernel)] ?? 0);
    return factors.filter((factor) => factor > 0).length;
  }

  #row(at: number): Float64Array {
    return this.#product.subarray(at * this.#width, (at + 1) * this.#width);
  }

  #block(places: readonly number[]): Block {
    const m = places.length;
    const error = new Float64Array(m * m);
    const weighted = new Float64Array(m * m);
    for (const [row, p] of places.entries()) {
      for (const [column, q] of places.entries()) {
        error[row * m + column] = this.#covariance[p * this.#count + q] ?? 0;
        weighted[row * m + column] = dot(this.#row(p), this.#row(q), this.#width);
      }
    }
    return { places, error, weighted };
  }

  /** Return by how much the squared error of the output falls if this set is kept as well. */
  gain(set: number): number {
    const block = this.#blocks.get(set);
    if (block === undefined) return 0;
    const { places, error, weighted } = block;
    const m = places.length;
    const [only = 0] = places;
    if (m === 1) {
      const [variance = 0] = error;
      return variance <= (this.#floor[only] ?? 0) ? 0 : Math.max(0, (weighted[0] ?? 0) / variance);
    }
    return blockGain(block, m, Math.max(...places.map((place) => this.#floor[place] ?? 0)));
  }

  keep(set: number): void {
    for (const place of this.#blocks.get(set)?.places ?? []) this.#pivot(place);
    this.#blocks.delete(set);
  }

  /** Keep channels that cannot be removed. */
  keepPlaces(places: readonly number[]): void {
    for (const place of places) this.#pivot(place);
  }

  #pivot(place: number): void {
    const n = this.#count;
    const error = Float64Array.from(this.#covariance.subarray(place * n, (place + 1) * n));
    const weighted = new Float64Array(n);
    const own = this.#row(place);
    for (let at = 0; at < n; at += 1) weighted[at] = dot(own, this.#row(at), this.#width);
    for (const [step, e] of this.#error.entries()) {
      const w = this.#weighted[step] ?? e;
      const [ep, spread] = [e[place] ?? 0, this.#spread[step] ?? 0];
      const wp = (w[place] ?? 0) - spread * ep;
      for (let at = 0; at < n; at += 1) {
        const ea = e[at] ?? 0;
        error[at] = (error[at] ?? 0) - ep * ea;
        weighted[at] = (weighted[at] ?? 0) - wp * ea - ep * (w[at] ?? 0);
      }
    }
    const variance = error[place] ?? 0;
    if (variance <= (this.#floor[place] ?? 0)) return;
    const root = Math.sqrt(variance);
    const spread = (weighted[place] ?? 0) / variance;
    for (let at = 0; at < n; at += 1) {
      error[at] = (error[at] ?? 0) / root;
      weighted[at] = (weighted[at] ?? 0) / root;
    }
    this.#error.push(error);
    this.#weighted.push(weighted);
    this.#spread.push(spread);
    for (const block of this.#blocks.values()) lower(block, error, weighted, spread);
  }
}

/** Return the dot product of two rows. */
function dot(a: Float64Array, b: Float64Array, length: number): number {
  let sum = 0;
  for (let at = 0; at < length; at += 1) sum += (a[at] ?? 0) * (b[at] ?? 0);
  return sum;
}

/** Return tr(E⁻¹ H) of a block, with a ridge on E's diagonal that makes it invertible. */
function blockGain({ error, weighted }: Block, m: number, floor: number): number {
  const factor = Float64Array.from(error);
  let ridge = floor;
  for (let at = 0; at < m; at += 1) ridge = Math.max(ridge, explained * (error[at * m + at] ?? 0));
  if (ridge <= 0) return 0;
  for (let at = 0; at < m; at += 1) factor[at * m + at] = (factor[at * m + at] ?? 0) + ridge;
  if (!choleskyInPlace(factor, m)) return 0;
  // tr(L⁻¹ H L⁻ᵀ): solve with L for each column of H, then for each row of the result.
  const solved = Float64Array.from(weighted);
  const solve = (start: number, stride: number): number => {
    for (let row = 0; row < m; row += 1) {
      let sum = solved[start + row * stride] ?? 0;
      for (let at = 0; at < row; at += 1)
        sum -= (factor[row * m + at] ?? 0) * (solved[start + at * stride] ?? 0);
      solved[start + row * stride] = sum / (factor[row * m + row] ?? 1);
    }
    return 0;
  };
  for (let column = 0; column < m; column += 1) solve(column, m);
  let trace = 0;
  for (let row = 0; row < m; row += 1) {
    solve(row * m, 1);
    trace += solved[row * m + row] ?? 0;
  }
  return Math.max(0, trace);
}

/** Subtract a pivot's contribution from the blocks of a set. */
function lower({ places, error, weighted }: Block, e: Float64Array, w: Float64Array, spread: number): void {
  const m = places.length;
  for (const [row, p] of places.entries()) {
    const [ep, wp] = [e[p] ?? 0, w[p] ?? 0];
    for (const [column, q] of places.entries()) {
      const at = row * m + column;
      const [eq, wq] = [e[q] ?? 0, w[q] ?? 0];
      error[at] = (error[at] ?? 0) - ep * eq;
      weighted[at] = (weighted[at] ?? 0) - ep * wq - wp * eq + spread * ep * eq;
    }
  }
}
