import { finitePart, type ValueSummary } from './summarize-values.ts';

/** Number of powers of two with their own bins. Smaller values lie below the width of any bin of the method. */
const octaves = 12;

const binBits = 12;

const octaveBins = 2 ** binBits;

/** Bits of a float32 below its exponent. The highest of them number the bins within a power of two. */
const mantissaBits = 23;

const dropped = mantissaBits - binBits;

const allBits = 0x7fffffff;

/**
 * Histogram of float32 values by magnitude. It covers the twelve powers of two below the largest value, in bins
 * with a width of 1/4096 of their power of two. The bits of a float are the number of its bin. The memory is
 * fixed.
 */
export class MagnitudeHistogram {
  /** The first bin holds all values below the other bins. */
  #counts: Uint32Array | Float64Array = new Uint32Array(1 + octaves * octaveBins);
  /** The exponent of the largest value so far, as float32 stores it. */
  #exponent = 0;
  #total = 0;

  /** Number of counted values. */
  get total(): number {
    return this.#total;
  }

  /** Count values, given their summary. Ignore values that are not finite. */
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
      // Branch-free, because the processor would mispredict a branch. The sign of a value that is too small
      // becomes a mask of zeros.
      const place = (bin & ~(bin >> 31)) >> dropped;
      counts[place] = (counts[place] ?? 0) + 1;
    }
  }

  /**
   * Return the middle of the bin that contains the value of rank `wanted`, counted from the smallest. Undefined if
   * there are fewer values.
   */
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

  /** Return the bits of the smallest magnitude with its own bin. Negative if every magnitude has one. */
  #firstBits(): number {
    return (this.#exponent - octaves + 1) * 2 ** mantissaBits;
  }

  /** Make room for a larger power of two. The bins move down, and the lowest ones merge into the first. */
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
