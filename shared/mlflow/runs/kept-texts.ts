/** Characters of a generation: the texts of some 2,000 runs. */
const maxCharacters = 4_000_000;

/**
 * Texts of objects that never change, such as the rows of segments that a process keeps. There are two generations: what
 * is asked for moves into the younger one, and when that is full the older one is forgotten. So at most twice as many
 * characters are kept, and none of an object that is gone.
 */
export class KeptTexts<Of extends object> {
  readonly #most: number;
  #younger = new WeakMap<Of, string>();
  #older = new WeakMap<Of, string>();
  #characters = 0;

  /** @param most UTF-16 units of a generation */
  constructor(most = maxCharacters) {
    this.#most = most;
  }

  /** The text of an object, made where it is not kept. */
  textOf(one: Of, make: () => string): string {
    const present = this.#younger.get(one);
    if (present !== undefined) return present;
    const text = this.#older.get(one) ?? make();
    if (this.#characters + text.length > this.#most) {
      this.#older = this.#younger;
      this.#younger = new WeakMap();
      this.#characters = 0;
    }
    this.#younger.set(one, text);
    this.#characters += text.length;
    return text;
  }
}
