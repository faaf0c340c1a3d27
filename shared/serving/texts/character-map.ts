/**
 * A map of SentencePiece from characters to their normal form: a double array (darts-clone) whose leaves are positions in a list
 * of texts. The library for JavaScript takes NFKC instead, which differs for characters that a model maps otherwise.
 */
export class CharacterMap {
  readonly #units: Uint32Array;
  readonly #texts: Buffer;

  /** @throws Error if it is not such a map */
  constructor(base64: string) {
    const bytes = Buffer.from(base64, 'base64');
    const size = bytes.length < 4 ? -1 : bytes.readUInt32LE(0);
    if (size < 4 || size % 4 !== 0 || 4 + size > bytes.length)
      throw new Error('precompiled_charsmap is not a map of SentencePiece');
    this.#units = new Uint32Array(Uint8Array.from(bytes.subarray(4, 4 + size)).buffer);
    this.#texts = bytes.subarray(4 + size);
  }

  /** Map each grapheme of less than six bytes as a whole, the others by their characters, as the Rust tokenizer does. */
  normalize(text: string): string {
    let normal = '';
    for (const { segment } of graphemes.segment(text)) {
      const whole = Buffer.byteLength(segment) < 6 ? this.#find(segment) : undefined;
      normal += whole ?? Array.from(segment, (character) => this.#find(character) ?? character).join('');
    }
    return normal;
  }

  /** The text of the shortest key that `key` begins with. */
  #find(key: string): string | undefined {
    let unit = this.#units[0] ?? 0;
    let at = offsetOf(unit);
    for (const byte of Buffer.from(key)) {
      if (byte === 0) return undefined;
      at ^= byte;
      unit = this.#units[at] ?? 0;
      if ((unit & labelBits) >>> 0 !== byte) return undefined;
      at ^= offsetOf(unit);
      if (((unit >>> 8) & 1) === 1) return this.#textAt((this.#units[at] ?? 0) & 0x7fffffff);
    }
    return undefined;
  }

  #textAt(start: number): string {
    const end = this.#texts.indexOf(0, start);
    return this.#texts.toString('utf8', start, end === -1 ? this.#texts.length : end);
  }
}

const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' });

/** A label, and the bit that marks a value. */
const labelBits = 0x800000ff;

const offsetOf = (unit: number): number => ((unit >>> 10) << ((unit & 0x200) >>> 6)) >>> 0;
