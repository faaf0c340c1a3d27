import type { InspectSource } from '../../../../../shared/onnx/model/inspect/wire-reader.ts';

/** An unsigned number as a varint. */
export function varint(value: number | bigint): Buffer {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  do {
    bytes.push(Number(rest & 0x7fn) | (rest > 0x7fn ? 0x80 : 0));
    rest >>= 7n;
  } while (rest > 0n);
  return Buffer.from(bytes);
}

/** A field: a number is written as a varint, bytes and text with their length. */
export function field(number: number, value: number | bigint | string | Uint8Array): Buffer {
  if (typeof value === 'number' || typeof value === 'bigint')
    return Buffer.concat([varint(number * 8), varint(value)]);
  const bytes = Buffer.from(value);
  return Buffer.concat([varint(number * 8 + 2), varint(bytes.length), bytes]);
}

export const message = (...fields: Uint8Array[]): Buffer => Buffer.concat(fields);

const opset = field(8, field(2, 17));
/** A model around a graph. */
export const modelOf = (...graph: Uint8Array[]): Buffer =>
  message(field(1, 8), opset, field(7, message(...graph)));

export const node = (operator: string, ...more: Uint8Array[]): Buffer =>
  field(1, message(field(4, operator), ...more));
export const initializer = (name: string, ...more: Uint8Array[]): Buffer =>
  field(5, message(...more, field(8, name)));

/** A source over bytes that counts what is read of it. */
export function counted(bytes: Uint8Array): InspectSource & { reads: number; bytes: number } {
  const source = {
    size: bytes.length,
    reads: 0,
    bytes: 0,
    read(offset: number, length: number): Promise<Uint8Array> {
      source.reads += 1;
      source.bytes += length;
      return Promise.resolve(bytes.subarray(offset, offset + length));
    },
  };
  return source;
}

/** The same over pieces, each followed by so many zeros, which are never held. */
export function scattered(pieces: readonly (readonly [bytes: Uint8Array, zeros: number])[]) {
  const source = {
    size: pieces.reduce((sum, [bytes, zeros]) => sum + bytes.length + zeros, 0),
    reads: 0,
    bytes: 0,
    read(offset: number, length: number): Promise<Uint8Array> {
      source.reads += 1;
      source.bytes += length;
      const read = new Uint8Array(length);
      let start = 0;
      for (const [bytes, zeros] of pieces) {
        const from = Math.max(offset - start, 0);
        if (from < bytes.length && start < offset + length) {
          const part = bytes.subarray(from, offset + length - start);
          read.set(part, start + from - offset);
        }
        start += bytes.length + zeros;
      }
      return Promise.resolve(read);
    },
  };
  return source;
}
