/** Return the name closest to a misspelt one, if it differs in a few characters only. */
export function nearestName(misspelt: string, names: Iterable<string>): string | undefined {
  if (misspelt.length > maxLength) return undefined;
  const wanted = plain(misspelt);
  let most = Math.max(1, Math.floor(misspelt.length / 4));
  let nearest: string | undefined;
  let work = 0;
  for (const name of names) {
    if (most < 1 || work > maxWork) break;
    work += 1 + Math.min(name.length, maxLength);
    if (Math.abs(name.length - misspelt.length) > most) continue;
    if (wanted !== '' && plain(name) === wanted) return name;
    const [one, other] = unlike(misspelt, name);
    work += one.length * other.length;
    const apart = changes(one, other, most);
    if (apart > most) continue;
    nearest = name;
    most = apart - 1;
  }
  return nearest;
}

/** Maximum characters of a name that is corrected. */
const maxLength = 200;

/** Maximum compared character pairs, some 2 ms. A request may misspell 100 names among those of its own file. */
const maxWork = 200_000;

/** Keep only letters and digits, in lower case. Most spelling mistakes are in separators and case. */
const plain = (name: string): string => name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');

/** Strip the common beginning and end of both names. */
function unlike(a: string, b: string): [string, string] {
  const shorter = Math.min(a.length, b.length);
  let start = 0;
  while (start < shorter && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < shorter - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1;
  return [a.slice(start, a.length - end), b.slice(start, b.length - end)];
}

/**
 * Return the edit distance from `a` to `b` (optimal string alignment). One change affects one character or swaps
 * two neighbours. Return `most + 1` for a larger distance.
 */
function changes(a: string, b: string, most: number): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const isSame = a[i - 1] === b[j - 1];
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      next.push(
        Math.min(
          (row[j - 1] ?? 0) + (isSame ? 0 : 1),
          (row[j] ?? 0) + 1,
          (next[j - 1] ?? 0) + 1,
          isSwapped ? (before[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
    // A swap refers to the row before the previous one, so check two rows.
    if (Math.min(...next, ...row) > most) return most + 1;
    [before, row] = [row, next];
  }
  return row[b.length] ?? 0;
}
