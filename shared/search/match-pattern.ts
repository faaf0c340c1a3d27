/**
 * Whether a text is like an SQL pattern: `%` stands for any characters, `_` for one UTF-16 unit. Never backtracks further
 * than the last `%`, so it takes at most the product of the two lengths.
 */
export function matchPattern(text: string, pattern: string): boolean {
  let at = 0;
  let inPattern = 0;
  let afterAny = -1;
  let retryAt = 0;
  while (at < text.length) {
    const expected = pattern.charAt(inPattern);
    if (expected === '%') {
      afterAny = inPattern + 1;
      retryAt = at;
      inPattern = afterAny;
    } else if (expected === '_' || (expected !== '' && expected === text.charAt(at))) {
      at += 1;
      inPattern += 1;
    } else if (afterAny >= 0) {
      retryAt += 1;
      at = retryAt;
      inPattern = afterAny;
    } else {
      return false;
    }
  }
  while (pattern.charAt(inPattern) === '%') inPattern += 1;
  return inPattern === pattern.length;
}
