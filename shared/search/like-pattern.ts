/**
 * Compile an SQL LIKE pattern: `%` matches any characters, `_` one UTF-16 unit. Each part between two `%` is found
 * at its first position after the part before it, so the time is linear in the text, and for a part with `_` also
 * in its length divided by 32.
 */
export function likePattern(pattern: string): LikePattern {
  const [first = '', ...others] = pattern.split('%');
  const last = others.pop();
  if (last === undefined) return { matches: (text) => isAt(text, first, 0, text.length), passes: 1 };
  const finders = others.filter((part) => part !== '').map(partFinder);
  return {
    matches(text) {
      const end = text.length - last.length;
      if (first.length > end || !isAt(text, first, 0, first.length)) return false;
      if (!isAt(text, last, end, text.length)) return false;
      let at = first.length;
      for (const find of finders) {
        at = find(text, at, end);
        if (at < 0) return false;
      }
      return true;
    },
    passes: Math.max(1, ...others.map((part) => (part.includes('_') ? Math.ceil(part.length / 32) : 1))),
  };
}

export interface LikePattern {
  matches(text: string): boolean;
  /** Maximum number of steps of the matcher for each character of a text. */
  passes: number;
}

/** Whether the text from `from` to `to` is this part. */
function isAt(text: string, part: string, from: number, to: number): boolean {
  if (to - from !== part.length) return false;
  for (let at = 0; at < part.length; at += 1) {
    const wanted = part.charCodeAt(at);
    if (wanted !== anyUnit && wanted !== text.charCodeAt(from + at)) return false;
  }
  return true;
}

const anyUnit = '_'.charCodeAt(0);

/** Return the end of the first occurrence of a part between two positions of a text; -1 without one. */
type Finder = (text: string, from: number, to: number) => number;

const partFinder = (part: string): Finder => (part.includes('_') ? withAnyUnits(part) : textFinder(part));

/** Return what finds a text that is not a pattern, in time linear in the text that is searched. */
export const textFinder = (text: string): Finder =>
  text.length > maxShort ? withoutAnyUnits(text) : short(text);

/** Most units of a part that `indexOf` finds: its time may be the product of the lengths. */
const maxShort = 16;

const short =
  (part: string): Finder =>
  (text, from, to) => {
    const at = text.indexOf(part, from);
    return at < 0 || at + part.length > to ? -1 : at + part.length;
  };

/** Knuth, Morris and Pratt: the text is read once. */
function withoutAnyUnits(part: string): Finder {
  const units = Uint16Array.from({ length: part.length }, (_, at) => part.charCodeAt(at));
  /** For each number of units that match, the next smaller one that matches at the same end. */
  const shorter = new Uint16Array(part.length + 1);
  for (let at = 1, length = 0; at < part.length; at += 1) {
    while (length > 0 && units[at] !== units[length]) length = shorter[length] ?? 0;
    if (units[at] === units[length]) length += 1;
    shorter[at + 1] = length;
  }
  return (text, from, to) => {
    for (let at = from, length = 0; at < to; at += 1) {
      const unit = text.charCodeAt(at);
      while (length > 0 && unit !== units[length]) length = shorter[length] ?? 0;
      if (unit === units[length]) length += 1;
      if (length === part.length) return at + 1;
    }
    return -1;
  };
}

/** Baeza-Yates and Gonnet's shift-and: bit `i` of the state says whether the first `i + 1` units of the part end here. */
function withAnyUnits(part: string): Finder {
  const words = Math.ceil(part.length / 32);
  const others = new Int32Array(words);
  const byUnit = new Map<number, Int32Array>();
  for (let at = 0; at < part.length; at += 1) {
    const unit = part.charCodeAt(at);
    if (unit === anyUnit) for (const mask of [others, ...byUnit.values()]) setBit(mask, at);
    else {
      const mask = byUnit.get(unit) ?? Int32Array.from(others);
      byUnit.set(unit, mask);
      setBit(mask, at);
    }
  }
  const lastBit = 1 << ((part.length - 1) & 31);
  const state = new Int32Array(words);
  return (text, from, to) => {
    state.fill(0);
    for (let at = from; at < to; at += 1) {
      const mask = byUnit.get(text.charCodeAt(at)) ?? others;
      for (let word = 0, carry = 1; word < words; word += 1) {
        const before = state[word] ?? 0;
        state[word] = ((before << 1) | carry) & (mask[word] ?? 0);
        carry = before >>> 31;
      }
      if (((state[words - 1] ?? 0) & lastBit) !== 0) return at + 1;
    }
    return -1;
  };
}

const setBit = (mask: Int32Array, at: number): void => {
  mask[at >> 5] = (mask[at >> 5] ?? 0) | (1 << (at & 31));
};
