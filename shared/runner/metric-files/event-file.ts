import { maskedCrc32c } from './crc32c.ts';
import { protobufFields } from './protobuf-fields.ts';

/** A scalar of an event file. */
export interface ScalarEvent {
  tag: string;
  value: number;
  step: number;
  /** Milliseconds since 1970. */
  time: number;
}

/** Larger records hold pictures, graphs and sounds. They are passed over without being kept. */
const maxRecordBytes = 256 * 1024;

/** No record is larger. A greater length is damage. */
const maxLength = 2n ** 40n;

const headerBytes = 12;
const checksumBytes = 4;

/**
 * Reads the scalars of a TensorBoard event file as it grows: TFRecords of `Event` messages. Every checksum is
 * verified, and reading ends at a damaged length, because no later record can be found.
 */
export class EventFile {
  readonly #plugins = new Map<string, boolean>();
  #rest = Buffer.alloc(0);
  #skipped = 0;
  #isDamaged = false;

  /** Whether the file is no event file, or is damaged from some place on. */
  get isDamaged(): boolean {
    return this.#isDamaged;
  }

  /** Return the scalars that more bytes complete. */
  read(bytes: Buffer): ScalarEvent[] {
    if (this.#isDamaged) return [];
    const found: ScalarEvent[] = [];
    let data = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    for (;;) {
      if (this.#skipped > 0) {
        const passed = Math.min(this.#skipped, data.length);
        this.#skipped -= passed;
        data = data.subarray(passed);
      }
      if (data.length < headerBytes) break;
      const length = data.readBigUInt64LE(0);
      if (length > maxLength || maskedCrc32c(data.subarray(0, 8)) !== data.readUInt32LE(8)) {
        this.#isDamaged = true;
        data = Buffer.alloc(0);
        break;
      }
      if (length > maxRecordBytes) {
        this.#skipped = headerBytes + Number(length) + checksumBytes;
        continue;
      }
      const end = headerBytes + Number(length);
      if (data.length < end + checksumBytes) break;
      const record = data.subarray(headerBytes, end);
      if (maskedCrc32c(record) === data.readUInt32LE(end)) found.push(...this.#scalarsOf(record));
      data = data.subarray(end + checksumBytes);
    }
    // Copy the rest: a part of the chunk would keep the whole chunk.
    this.#rest = Buffer.from(data);
    return found;
  }

  #scalarsOf(event: Buffer): ScalarEvent[] {
    let time = 0;
    let step = 0;
    const found: { tag: string; value: number }[] = [];
    for (const { number, integer, bytes } of protobufFields(event)) {
      if (number === 1 && bytes.length === 8) time = bytes.readDoubleLE(0) * 1000;
      else if (number === 2) step = Number(BigInt.asIntN(64, integer));
      else if (number === 5)
        for (const one of protobufFields(bytes)) {
          const scalar = one.number === 1 ? this.#scalarOf(one.bytes) : undefined;
          if (scalar !== undefined) found.push(scalar);
        }
    }
    return found.map((scalar) => ({ ...scalar, step, time }));
  }

  /** Return the scalar of a `Summary.Value`. TensorFlow 2 writes scalars as tensors of the plugin `scalars`. */
  #scalarOf(message: Buffer): { tag: string; value: number } | undefined {
    let tag = '';
    let simple: number | undefined;
    let tensor: Buffer | undefined;
    let plugin: string | undefined;
    for (const { number, bytes } of protobufFields(message)) {
      if (number === 1) tag = bytes.toString('utf8');
      else if (number === 2 && bytes.length === 4) simple = bytes.readFloatLE(0);
      else if (number === 8) tensor = bytes;
      else if (number === 9) plugin = pluginOf(bytes) ?? plugin;
    }
    // Only the first value of a tag names its plugin.
    if (plugin !== undefined && this.#plugins.size < maxTags) this.#plugins.set(tag, plugin === 'scalars');
    if (simple !== undefined) return { tag, value: shortest(simple) };
    if (tensor === undefined || this.#plugins.get(tag) !== true) return undefined;
    const value = numberOfTensor(tensor);
    return value === undefined ? undefined : { tag, value };
  }
}

const maxTags = 10_000;

/** The name of the plugin in a `SummaryMetadata`. */
function pluginOf(metadata: Buffer): string | undefined {
  for (const data of protobufFields(metadata))
    if (data.number === 1)
      for (const name of protobufFields(data.bytes))
        if (name.number === 1) return name.bytes.toString('utf8');
  return undefined;
}

const dtypes = { float: 1n, double: 2n };

/** Return the number of a `TensorProto` of one float or double. */
function numberOfTensor(tensor: Buffer): number | undefined {
  let dtype = 0n;
  let content: Buffer | undefined;
  for (const { number, integer, bytes } of protobufFields(tensor)) {
    if (number === 1) dtype = integer;
    // `tensor_content`, `float_val` and `double_val` have the same bytes for one number.
    else if (number === 4 || number === 5 || number === 6) content = bytes;
  }
  if (content === undefined) return undefined;
  if (dtype === dtypes.float && content.length === 4) return shortest(content.readFloatLE(0));
  if (dtype === dtypes.double && content.length === 8) return content.readDoubleLE(0);
  return undefined;
}

/** Return a 32-bit float as its author wrote it: 0.1 and not 0.10000000149011612. */
const shortest = (value: number): number => {
  if (!Number.isFinite(value)) return value;
  for (let digits = 6; digits <= 9; digits += 1) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return short;
  }
  return value;
};
