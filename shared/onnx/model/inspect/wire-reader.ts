import { ModelError } from '../model-error.ts';
import type { InspectLimits } from './inspect-limits.ts';

/** A source of bytes, read range by range. */
export interface InspectSource {
  size: number;
  /** Exactly the bytes asked for. */
  read(offset: number, length: number): Promise<Uint8Array>;
}

/** Bytes of one read. A gap that is shorter is read through, since a read of its own costs more. */
const windowBytes = 1024 * 1024;

const decoder = new TextDecoder();

/**
 * Reads the wire format of protocol buffers from a source that is too large to be held: a window of it is loaded, and
 * moved on. Skipped fields are never read.
 */
export class WireReader {
  readonly size: number;
  /** Where in the source the next byte is. */
  position = 0;
  readonly #source: InspectSource;
  readonly #limits: InspectLimits;
  #window: Uint8Array = new Uint8Array();
  #start = 0;
  #reads = 0;
  #bytes = 0;

  constructor(source: InspectSource, limits: InspectLimits) {
    this.size = source.size;
    this.#source = source;
    this.#limits = limits;
  }

  /** Has `length` bytes from the position on in the window, or what is left of the source; undefined where it has. */
  load(length: number): Promise<void> | undefined {
    const end = Math.min(this.position + length, this.size);
    if (this.position >= this.#start && end <= this.#start + this.#window.length) return undefined;
    return this.#move(end);
  }

  async #move(end: number): Promise<void> {
    const length = Math.min(Math.max(end - this.position, windowBytes), this.size - this.position);
    this.#reads += 1;
    this.#bytes += length;
    if (this.#reads > this.#limits.reads || this.#bytes > this.#limits.bytes) {
      throw new ModelError(
        'The model is too large to be looked through. Keep its tensors in external data files, or as raw data.',
      );
    }
    const bytes = await this.#source.read(this.position, length);
    if (bytes.length !== length) throw broken('it ends early');
    this.#window = bytes;
    this.#start = this.position;
  }

  /** An unsigned number of at most 64 bits, of loaded bytes that end at `end`. */
  varint(end: number): bigint | number {
    let value = 0;
    let large = 0n;
    for (let index = 0; index < 10; index += 1) {
      if (this.position >= end) throw broken(`a number is cut off at byte ${this.position}`);
      const byte = this.#window[this.position - this.#start] ?? 0;
      this.position += 1;
      const share = byte & 0x7f;
      if (index < 7) value += share * 2 ** (7 * index);
      else large |= BigInt(share) << BigInt(7 * index);
      if (byte < 0x80) return index < 7 ? value : BigInt.asUintN(64, BigInt(value) | large);
    }
    throw broken(`a number has more than 64 bits at byte ${this.position}`);
  }

  /** The text up to `end`. Longer ones than `most` bytes are refused. */
  async text(end: number, most: number): Promise<string> {
    const length = end - this.position;
    if (length > most)
      throw new ModelError(`A name in the model has ${length} bytes; at most ${most} are taken.`);
    const loading = this.load(length);
    if (loading !== undefined) await loading;
    const from = this.position - this.#start;
    this.position = end;
    return decoder.decode(this.#window.subarray(from, from + length));
  }
}

const broken = (what: string): ModelError =>
  new ModelError(`This is not an ONNX model, or a damaged one: ${what}.`);

/** The value of a field: its number, for a varint; where its bytes end, for one with a length. */
export interface Field {
  number: number;
  wire: 'varint' | 'bytes' | 'fixed';
  /** Of a varint; numbers of more than 49 bits as a bigint. */
  value: bigint | number;
  end: number;
}

/** Bytes that a key and a length take at most. */
const headBytes = 20;

const wires = ['varint', 'fixed', 'bytes', undefined, undefined, 'fixed'] as const;

/**
 * Shows every field of the message that ends at `end`. Bytes of a field that `visit` does not read are skipped.
 * @throws ModelError where the bytes are no message
 */
export async function eachField(
  reader: WireReader,
  end: number,
  visit: (field: Field) => Promise<void> | void,
): Promise<void> {
  while (reader.position < end) {
    const loading = reader.load(Math.min(headBytes, end - reader.position));
    if (loading !== undefined) await loading;
    const at = reader.position;
    const key = Number(reader.varint(end));
    const number = Math.floor(key / 8);
    const wire = wires[key % 8];
    if (wire === undefined || number < 1 || number > 0x1fff_ffff)
      throw broken(`there is no field at byte ${at}`);
    const field: Field = { number, wire, value: 0, end: 0 };
    if (wire === 'varint') {
      field.value = reader.varint(end);
      field.end = reader.position;
    } else if (wire === 'fixed') {
      field.end = reader.position + (key % 8 === 1 ? 8 : 4);
    } else {
      const length = Number(reader.varint(end));
      field.end = reader.position + length;
    }
    if (field.end > end) {
      throw broken(
        `a field at byte ${at} has ${field.end - reader.position} bytes where ${end - reader.position} are left`,
      );
    }
    const visiting = visit(field);
    if (visiting !== undefined) await visiting;
    reader.position = field.end;
  }
}

/** A varint as the signed number that it stands for (`int64`); undefined where it is beyond 53 bits. */
export function signed(value: bigint | number): number | undefined {
  const number = typeof value === 'number' ? value : Number(BigInt.asIntN(64, value));
  return Number.isSafeInteger(number) ? number : undefined;
}
