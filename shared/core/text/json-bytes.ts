const digitZero = 48;
const minus = 45;
/** Maximum number of digits of a safe integer. */
const maxDigits = 16;

/**
 * Writes JSON text directly as bytes, for answers with a hundred thousand numbers. Joining strings would leave ten
 * times their size for the garbage collector.
 */
export class JsonBytes {
  #bytes: Buffer;
  #length = 0;

  /** @param capacity bytes of the first allocation */
  constructor(capacity: number) {
    this.#bytes = Buffer.allocUnsafeSlow(capacity);
  }

  get length(): number {
    return this.#length;
  }

  #reserve(more: number): void {
    const needed = this.#length + more;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#bytes.length));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }

  /** Write bytes of JSON. */
  raw(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /** Write JSON that contains only ASCII. */
  ascii(text: string): void {
    const { length } = text;
    this.#reserve(length);
    for (let index = 0; index < length; index += 1)
      this.#bytes[this.#length + index] = text.charCodeAt(index);
    this.#length += length;
  }

  /** Write a finite number. */
  number(value: number): void {
    if (!Number.isSafeInteger(value)) {
      this.ascii(String(value));
      return;
    }
    this.#reserve(maxDigits + 1);
    let rest = Math.abs(value);
    let digits = 1;
    for (let power = 10; power <= rest; power *= 10) digits += 1;
    if (value < 0) {
      this.#bytes[this.#length] = minus;
      this.#length += 1;
    }
    for (let at = this.#length + digits - 1; at >= this.#length; at -= 1) {
      this.#bytes[at] = digitZero + (rest % 10);
      rest = Math.floor(rest / 10);
    }
    this.#length += digits;
  }

  /** The bytes written so far. */
  bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }
}
