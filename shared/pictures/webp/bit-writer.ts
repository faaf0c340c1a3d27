/** Packs numbers into bytes, least significant bit first, as VP8L stores them (RFC 9649, 3.1). */
export class BitWriter {
  readonly #bytes: number[] = [];
  #held = 0;
  #heldBits = 0;

  /** Appends the lowest `bits` (0 to 24) of a value that has no higher ones. */
  write(value: number, bits: number): void {
    this.#held |= value << this.#heldBits;
    this.#heldBits += bits;
    while (this.#heldBits >= 8) {
      this.#bytes.push(this.#held & 0xff);
      this.#held >>>= 8;
      this.#heldBits -= 8;
    }
  }

  /** All bytes, the last one filled up with zeros. */
  finish(): Uint8Array {
    return Uint8Array.from(this.#heldBits === 0 ? this.#bytes : [...this.#bytes, this.#held]);
  }
}
