import { ModelError } from '../../../model/model-error.ts';
import type { GramSession } from '../gram-session.ts';
import type { CountedRows } from '../real-tokens.ts';
import type { InputStatistics, ObservedInput } from '../statistics-file.ts';

/** A value of one sample. */
export interface ObservedValue {
  values: Float32Array;
  dims: readonly number[];
  /** Rows to count, for a value whose rows are tokens. All rows count if it is undefined. */
  counted?: CountedRows | undefined;
}

/** Collect mean, largest magnitude and second moment of the channels of values, sample by sample. */
export class StatisticsCollector {
  readonly #gram: GramSession;
  readonly #channels: ReadonlyMap<string, Channels>;

  constructor(wanted: readonly ObservedInput[], gram: GramSession) {
    this.#gram = gram;
    this.#channels = new Map(wanted.map((input) => [input.name, new Channels(input)]));
  }

  /** Add the values of one sample. @throws ModelError if their number of channels differs */
  async add(name: string, value: ObservedValue): Promise<void> {
    await this.#channels.get(name)?.add(value, this.#gram);
  }

  /** Return the statistics of every value that had a row of finite numbers. */
  async statistics(): Promise<Map<string, InputStatistics>> {
    const all = new Map<string, InputStatistics>();
    for (const [name, channels] of this.#channels) {
      await channels.flush(this.#gram);
      const result = channels.result();
      if (result.rows > 0) all.set(name, result);
    }
    return all;
  }
}

const minBufferRows = 256;

/**
 * Approximate number of values in a batch of rows that are multiplied together. A batch also has a minimum number
 * of rows.
 */
const bufferValues = 2 ** 21;

/** Buffered rows and running statistics of one value. */
class Channels {
  readonly #input: ObservedInput;
  readonly #sums: Float64Array;
  readonly #largest: Float64Array;
  readonly #moment: Float64Array | undefined;
  readonly #buffer: Float32Array;
  #buffered = 0;
  #rows = 0;

  constructor(input: ObservedInput) {
    const { channels, hasMoment } = input;
    this.#input = input;
    this.#sums = new Float64Array(channels);
    this.#largest = new Float64Array(channels);
    this.#moment = hasMoment ? new Float64Array(channels * channels) : undefined;
    const rows = Math.max(minBufferRows, Math.floor(bufferValues / Math.max(1, channels)));
    this.#buffer = new Float32Array(rows * channels);
  }

  async add({ values, dims, counted }: ObservedValue, gram: GramSession): Promise<void> {
    const { axis, channels, name } = this.#input;
    const at = axis < 0 ? axis + dims.length : axis;
    if (dims[at] !== channels) {
      throw new ModelError(
        `The value ${JSON.stringify(name)} is [${dims.join(', ')}], but needs ${channels} channels along axis ${axis}.`,
      );
    }
    const inner = dims.slice(at + 1).reduce((product, dim) => product * dim, 1);
    // Token rows have their channels on the last axis.
    const rows = inner === 1 ? counted : undefined;
    for (let start = 0; start < values.length; start += channels * inner) {
      if (rows?.[start / channels] === 0) continue;
      for (let offset = 0; offset < inner; offset += 1) {
        this.#take(values, start + offset, inner);
        if (this.#buffered * channels === this.#buffer.length) await this.flush(gram);
      }
    }
  }

  /** Count one row whose channels lie `stride` apart. Skip a row with a value that is not finite. */
  #take(values: Float32Array, start: number, stride: number): void {
    const { channels } = this.#input;
    const to = this.#buffered * channels;
    let check = 0;
    for (let channel = 0, at = start; channel < channels; channel += 1, at += stride) {
      const value = values[at] ?? 0;
      check += value * 0;
      this.#buffer[to + channel] = value;
    }
    if (check !== 0) return;
    this.#buffered += 1;
    this.#rows += 1;
    for (let channel = 0; channel < channels; channel += 1) {
      const value = this.#buffer[to + channel] ?? 0;
      this.#sums[channel] = (this.#sums[channel] ?? 0) + value;
      const magnitude = value < 0 ? -value : value;
      if (magnitude > (this.#largest[channel] ?? 0)) this.#largest[channel] = magnitude;
    }
  }

  async flush(gram: GramSession): Promise<void> {
    const { channels } = this.#input;
    const rows = this.#buffered;
    this.#buffered = 0;
    const sums = this.#moment;
    if (sums === undefined || rows === 0) return;
    const product = await gram.gram(this.#buffer.subarray(0, rows * channels), rows, channels);
    for (let at = 0; at < product.length; at += 1) sums[at] = (sums[at] ?? 0) + (product[at] ?? 0);
  }

  result(): InputStatistics {
    const rows = this.#rows;
    const { channels } = this.#input;
    const moment = this.#moment?.map((sum) => sum / rows);
    return {
      channels,
      rows,
      mean: this.#sums.map((sum) => sum / rows),
      largest: this.#largest,
      moment: () => moment,
    };
  }
}
