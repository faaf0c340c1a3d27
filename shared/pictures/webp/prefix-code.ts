import type { BitWriter } from './bit-writer.ts';
import { codeLengths } from './code-lengths.ts';

const codeMaxBits = 15;
const lengthCodeMaxBits = 7;

/** The order in which the lengths of the code for lengths are stored (RFC 9649, 3.7.2.1.2). */
const lengthCodeOrder = [17, 18, 0, 1, 2, 3, 4, 5, 16, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

/** Symbols for runs of zeros among the lengths: how many they stand for at least, and the bits for how many more. */
const shortRun = { symbol: 17, least: 3, bits: 3 };
const longRun = { symbol: 18, least: 11, bits: 7 };

interface Token {
  symbol: number;
  extra?: { value: number; bits: number };
}

function lengthTokens(lengths: Uint8Array): Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < lengths.length; ) {
    let zeros = 0;
    while (zeros < longRun.least + 127 && lengths[at + zeros] === 0) zeros += 1;
    if (zeros < shortRun.least) {
      tokens.push({ symbol: lengths[at] ?? 0 });
      at += 1;
      continue;
    }
    const { symbol, least, bits } = zeros < longRun.least ? shortRun : longRun;
    tokens.push({ symbol, extra: { value: zeros - least, bits } });
    at += zeros;
  }
  return tokens;
}

/** A canonical prefix code for the symbols of one alphabet, made for how often each occurs (RFC 9649, 3.7.2). */
export class PrefixCode {
  readonly #lengths: Uint8Array;
  /** Bits of each symbol, in the order in which they are written. */
  readonly #codes: Uint16Array;
  readonly #used: readonly number[];

  constructor(counts: ArrayLike<number>, most = codeMaxBits) {
    this.#lengths = codeLengths(counts, most);
    this.#used = [...this.#lengths.keys()].filter((symbol) => this.#lengths[symbol] !== 0);
    this.#codes = new Uint16Array(counts.length);
    let code = 0;
    for (let length = 1; length <= most; length += 1) {
      for (const symbol of this.#used) {
        if (this.#lengths[symbol] !== length) continue;
        this.#codes[symbol] = Number.parseInt(
          [...code.toString(2).padStart(length, '0')].reverse().join(''),
          2,
        );
        code += 1;
      }
      code <<= 1;
    }
  }

  /** Writes a symbol that the code was made for. The only symbol of a code takes no bits at all. */
  write(writer: BitWriter, symbol: number): void {
    if (this.#used.length > 1) writer.write(this.#codes[symbol] ?? 0, this.#lengths[symbol] ?? 0);
  }

  /** Writes the code itself, which the reader needs before any symbol. */
  writeTo(writer: BitWriter): void {
    const [first = 0, second] = this.#used;
    if (this.#used.length <= 2 && (second ?? first) < 256) this.#writeSimple(writer, first, second);
    else this.#writeLengths(writer);
  }

  /** One or two symbols are named outright; the smaller one comes first, as in the canonical order. */
  #writeSimple(writer: BitWriter, first: number, second: number | undefined): void {
    writer.write(1, 1);
    writer.write(second === undefined ? 0 : 1, 1);
    writer.write(1, 1);
    writer.write(first, 8);
    if (second !== undefined) writer.write(second, 8);
  }

  #writeLengths(writer: BitWriter): void {
    const tokens = lengthTokens(this.#lengths);
    const counts = new Uint32Array(lengthCodeOrder.length);
    for (const { symbol } of tokens) counts[symbol] = (counts[symbol] ?? 0) + 1;
    const code = new PrefixCode(counts, lengthCodeMaxBits);
    writer.write(0, 1);
    writer.write(lengthCodeOrder.length - 4, 4);
    for (const symbol of lengthCodeOrder) writer.write(code.#lengths[symbol] ?? 0, 3);
    // Lengths follow for the whole alphabet.
    writer.write(0, 1);
    for (const { symbol, extra } of tokens) {
      code.write(writer, symbol);
      if (extra !== undefined) writer.write(extra.value, extra.bits);
    }
  }
}
