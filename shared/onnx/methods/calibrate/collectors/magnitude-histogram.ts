import { finitePart, type ValueSummary } from './summarize-values.ts';

/** Powers of two that have bins of their own: what is smaller is below the width of any bin of the method. */
const octaves = 12;

const binBits = 12;

const octaveBins = 2 ** binBits;

/** Bits of a float32 below its exponent, and the highest of them, which number the bins. */
const mantissaBits = 23;

const dropped = mantissaBits - binBits;

const allBits = 0x7fffffff;

/**
 * Counts of float32 values by magnitude, in bins that are 1/4096 of their power of two wide, for the twelve powers of
 * two below the largest value: the bits of a float are the number of its bin. Memory is fixed.
 */
export class MagnitudeHistogram {
  /** The first bin holds all that is smaller than the others'. */
  #counts: Uint32Array | Float64Array = new Uint32Array(1 + octaves * octaveBins);
  /** The exponent of the largest value so far, as float32 stores it. */
  #exponent = 0;
  #total = 0;

  /** How many were counted. */
  get total(): number {
    return this.#total;
  }

  /** Count values, given their summary. Those that are not finite are left out. */
  add(all: Float32Array, surveyed: ValueSummary): void {
    const [values, { min, max }] = finitePart(all, surveyed);
    const [maxBits = 0] = new Int32Array(Float32Array.of(Math.max(-min, max, 0)).buffer);
    this.#reach(maxBits >>> mantissaBits);
    this.#total += values.length;
    if (this.#total >= 2 ** 32 && this.#counts instanceof Uint32Array)
      this.#counts = Float64Array.from(this.#counts);
    const counts = this.#counts;
    const bits = new Int32Array(values.buffer, values.byteOffset, values.length);
    const first = this.#firstBits() - (1 << dropped);
    for (let at = 0; at < bits.length; at += 1) {
      const bin = ((bits[at] ?? 0) & allBits) - first;
      // Without a branch, which the processor would mispredict: the sign of a value that is too small makes a mask of zeros.
      const place = (bin & ~(bin >> 31)) >> dropped;
      counts[place] = (counts[place] ?? 0) + 1;
    }
  }

  /** The middle of the bin in which so many values are reached, counted from the smallest; undefined beyond all. */
  reached(wanted: number): number | undefined {
    const counts = this.#counts;
    let sum = 0;
    for (let bin = 0; bin < counts.length; bin += 1) {
      sum += counts[bin] ?? 0;
      if (sum >= wanted && sum > 0) return this.#middle(bin);
    }
    return undefined;
  }

  #middle(bin: number): number {
    if (bin === 0) return 0;
    const border = (at: number) => Math.max(0, this.#firstBits() + at * 2 ** dropped);
    const [low = 0, high = 0] = new Float32Array(Int32Array.of(border(bin - 1), border(bin)).buffer);
    return (low + high) / 2;
  }

  /** The bits of the smallest magnitude that has a bin of its own; negative where all have. */
  #firstBits(): number {
    return (this.#exponent - octaves + 1) * 2 ** mantissaBits;
  }

  /** Makes room for a larger power of two: the bins move down, and the lowest ones become part of the first. */
  #reach(exponent: number): void {
    const risen = Math.min(octaves, exponent - this.#exponent);
    if (risen <= 0) return;
    this.#exponent = exponent;
    if (this.#total === 0) return;
    const counts = this.#counts;
    const end = 1 + risen * octaveBins;
    let small = 0;
    for (let bin = 0; bin < end; bin += 1) small += counts[bin] ?? 0;
    counts.copyWithin(1, end);
    counts.fill(0, counts.length - risen * octaveBins);
    counts[0] = small;
  }
}
