import { ModelError } from '../model-error.ts';
import type { InspectLimits } from './inspect-limits.ts';

/** A source of bytes with random access. */
export interface InspectSource {
  size: number;
  /** Return exactly the requested bytes. */
  read(offset: number, length: number): Promise<Uint8Array>;
}

/** Bytes of one read. A shorter gap is read too, because a separate read costs more. */
const windowBytes = 1024 * 1024;

const decoder = new TextDecoder();

/**
 * Reads protobuf wire format from a source that does not fit into memory. It loads a moving window of the source
 * and never reads skipped fields.
 */
export class WireReader {
  readonly size: number;
  /** Offset of the next byte in the source. */
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

  /**
   * Load `length` bytes from the position into the window, or the rest of the source. Undefined if they are
   * already loaded.
   */
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
        'The model is too large to inspect. Keep its tensors in external data files, or as raw data.',
      );
    }
    const bytes = await this.#source.read(this.position, length);
    if (bytes.length !== length) throw broken('it ends early');
    this.#window = bytes;
    this.#start = this.position;
  }

  /** Read an unsigned varint of at most 64 bits from loaded bytes that end at `end`. */
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

  /** Read the text up to `end`. Refuses a text of more than `most` bytes. */
  async text(end: number, most: number): Promise<string> {
    const length = end - this.position;
    if (length > most)
      throw new ModelError(`A name in the model has ${length} bytes; at most ${most} are allowed.`);
    const loading = this.load(length);
    if (loading !== undefined) await loading;
    const from = this.position - this.#start;
    this.position = end;
    return decoder.decode(this.#window.subarray(from, from + length));
  }
}

const broken = (what: string): ModelError =>
  new ModelError(`This is not an ONNX model, or it is damaged: ${what}.`);

/** The value of a field: the number of a varint, or the end of the bytes of a field with a length. */
export interface Field {
  number: number;
  wire: 'varint' | 'bytes' | 'fixed';
  /** Value of a varint; a bigint above 49 bits. */
  value: bigint | number;
  end: number;
}

/** Maximum bytes of a key and a length. */
const headBytes = 20;

const wires = ['varint', 'fixed', 'bytes', undefined, undefined, 'fixed'] as const;

/**
 * Call `visit` for every field of the message that ends at `end`. Skips the bytes of a field that `visit` does not
 * read.
 * @throws ModelError if the bytes are not a message
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
        `a field at byte ${at} has ${field.end - reader.position} bytes, but only ${end - reader.position} are left`,
      );
    }
    const visiting = visit(field);
    if (visiting !== undefined) await visiting;
    reader.position = field.end;
  }
}

/** Interpret a varint as a signed number (`int64`); undefined beyond 53 bits. */
export function signed(value: bigint | number): number | undefined {
  const number = typeof value === 'number' ? value : Number(BigInt.asIntN(64, value));
  return Number.isSafeInteger(number) ? number : undefined;
}
