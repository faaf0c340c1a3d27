/** A field of a protobuf message. */
export interface ProtobufField {
  number: number;
  /** Value of a varint; 0 for other fields. */
  integer: bigint;
  /** Bytes of a fixed-size or length-delimited field; empty for varints. */
  bytes: Uint8Array;
}

/**
 * Yield the fields of a message. A message that ends within a field, or has a group, ends there without an error, so
 * damaged and hostile messages cost no more than their bytes.
 */
export function* protobufFields(message: Uint8Array): Generator<ProtobufField> {
  let at = 0;
  const varint = (): bigint | undefined => {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = message[at];
      if (byte === undefined) return undefined;
      at += 1;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    return undefined;
  };
  /** Read a varint of one or two bytes, as nearly all tags and lengths are, without a bigint; else any other. */
  const short = (): number | undefined => {
    const first = message[at] ?? 0x80;
    if (first < 0x80) {
      at += 1;
      return first;
    }
    const second = message[at + 1] ?? 0x80;
    if (second >= 0x80) {
      const long = varint();
      return long === undefined ? undefined : Number(long);
    }
    at += 2;
    return (first & 0x7f) | (second << 7);
  };
  while (at < message.length) {
    const tag = short();
    if (tag === undefined) return;
    const number = Math.floor(tag / 8);
    const wire = tag % 8;
    if (wire === 0) {
      const integer = varint();
      if (integer === undefined) return;
      yield { number, integer, bytes: none };
      continue;
    }
    const length = wire === 1 ? 8 : wire === 5 ? 4 : wire === 2 ? (short() ?? -1) : -1;
    if (length < 0 || at + length > message.length) return;
    yield { number, integer: 0n, bytes: message.subarray(at, at + length) };
    at += length;
  }
}

const none = new Uint8Array();
