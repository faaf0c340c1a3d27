/** Counts of magnitudes in bins of equal width, which doubles when a larger magnitude comes: memory is fixed. */
export class MagnitudeHistogram {
  /** Width of a bin, a power of two; 0 until a magnitude above 0 came. */
  width = 0;
  readonly counts: Float64Array;
  /** How many were exactly 0. They are not among the counts. */
  zeros = 0;
  total = 0;

  constructor(bins: number) {
    this.counts = new Float64Array(bins);
  }

  /**
   * Adds the magnitudes of all values whose sign is `sign`, or of all values where it is 0. Those that are not finite
   * are left out.
   */
  add(values: Float32Array, sign: -1 | 0 | 1): void {
    const factor = sign === -1 ? -1 : 1;
    const isEither = sign === 0;
    let most = 0;
    for (let at = 0; at < values.length; at += 1) {
      const value = (values[at] ?? 0) * factor;
      const magnitude = isEither && value < 0 ? -value : value;
      if (magnitude > most && magnitude < Number.POSITIVE_INFINITY) most = magnitude;
    }
    this.#widen(most);
    const { counts } = this;
    const perWidth = this.width === 0 ? 0 : 1 / this.width;
    let [zeros, total] = [0, 0];
    for (let at = 0; at < values.length; at += 1) {
      const value = (values[at] ?? 0) * factor;
      const magnitude = isEither && value < 0 ? -value : value;
      if (magnitude === 0) zeros += 1;
      else if (magnitude > 0 && magnitude <= most) {
        const bin = (magnitude * perWidth) | 0;
        counts[bin] = (counts[bin] ?? 0) + 1;
        total += 1;
      }
    }
    this.zeros += zeros;
    this.total += zeros + total;
  }

  /** Calls back with every bin that is not empty: its middle and its count, by rising magnitude, zeros first. */
  forEach(visit: (magnitude: number, count: number) => void): void {
    if (this.zeros > 0) visit(0, this.zeros);
    for (let bin = 0; bin < this.counts.length; bin += 1) {
      const count = this.counts[bin] ?? 0;
      if (count > 0) visit((bin + 0.5) * this.width, count);
    }
  }

  #widen(most: number): void {
    const bins = this.counts.length;
    if (most === 0) return;
    // Powers of two keep the borders of all bins exact.
    if (this.width === 0) this.width = 2 ** Math.floor(Math.log2(most / bins));
    while (most >= this.width * bins) {
      for (let bin = 0; bin < bins; bin += 1) {
        const pair = 2 * bin < bins ? (this.counts[2 * bin] ?? 0) + (this.counts[2 * bin + 1] ?? 0) : 0;
        this.counts[bin] = pair;
      }
      this.width *= 2;
    }
  }
}
