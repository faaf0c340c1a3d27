/** Bytes that are read in parts, so that no tensor of a file has to lie in memory as a whole. */
export interface ByteSource {
  readonly byteLength: number;
  /** All of them, where they lie in memory anyway. Not to be written to. */
  readonly whole?: Uint8Array;
  /** Fills `into` with the bytes from `from` on. */
  read(into: Uint8Array, from: number): void;
}

/** The bytes of an array, wherever it begins. */
export function sourceOf({ buffer, byteOffset, byteLength }: ArrayBufferView): ByteSource {
  const whole = new Uint8Array(buffer, byteOffset, byteLength);
  return { byteLength, whole, read: (into, from) => into.set(whole.subarray(from, from + into.length)) };
}
