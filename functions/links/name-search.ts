/** Finds names in texts, both in small letters. Its time grows with the text, however many names there are. */
export class NameSearch {
  /** Names by their first characters, then by their length. */
  readonly #byStart = new Map<string, Map<number, Set<string>>>();
  readonly #isAnywhere: boolean;

  /** @param isAnywhere whether names of at least 5 characters are also found within words */
  constructor({ isAnywhere = false } = {}) {
    this.#isAnywhere = isAnywhere;
  }

  /** Look for a name, too. */
  add(name: string): void {
    if (name === '') return;
    // A text with a long name has its beginning.
    const known = name.slice(0, maxCompared);
    const start = known.slice(0, startLength);
    const lengths = this.#byStart.get(start) ?? new Map<number, Set<string>>();
    this.#byStart.set(start, lengths);
    const names = lengths.get(known.length) ?? new Set();
    lengths.set(known.length, names.add(known));
  }

  /** Whether one of the names is in the text. */
  isIn(text: string): boolean {
    if (this.#byStart.size === 0) return false;
    for (let at = 0; at < text.length; at += 1) {
      const isStart = isEdge(text, at);
      if (!isStart && !this.#isAnywhere) continue;
      for (let length = isStart ? 1 : startLength; length <= startLength; length += 1)
        for (const [most, names] of this.#byStart.get(text.slice(at, at + length)) ?? []) {
          const isWhole = isStart && (most === maxCompared || isEdge(text, at + most));
          if (names.has(text.slice(at, at + most)) && (isWhole || (this.#isAnywhere && most >= startLength)))
            return true;
        }
    }
    return false;
  }
}

const startLength = 5;
const maxCompared = 24;

/** Whether a word may begin or end before a character. Names of runs join a name with its number: `lr0.1`, `ada2`. */
function isEdge(text: string, at: number): boolean {
  const kind = kindAt(text, at);
  return kind === undefined || kind !== kindAt(text, at - 1);
}

const kinds = [/\p{L}/u, /\p{N}/u] as const;
const kindAt = (text: string, at: number): RegExp | undefined =>
  kinds.find((kind) => kind.test(text.charAt(at)));
