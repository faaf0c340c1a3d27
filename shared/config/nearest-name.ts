/** Find the most likely intended name; undefined if every name differs in more than a third of its letters. */
export function nearestName(given: string, names: readonly string[]): string | undefined {
  const near = names
    .map((name) => ({ name, away: distance(given.toLowerCase(), name.toLowerCase()) }))
    .filter(({ name, away }) => away <= Math.max(1, Math.ceil(Math.max(name.length, given.length) / 3)))
    .sort((one, other) => one.away - other.away);
  return near[0]?.name;
}

/** Compute the edit distance of two texts, with swaps of neighbours (Damerau-Levenshtein). */
function distance(one: string, other: string): number {
  let before: number[] = [];
  let above = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let row = 1; row <= one.length; row += 1) {
    const present = [row];
    for (let at = 1; at <= other.length; at += 1) {
      const isSame = one[row - 1] === other[at - 1];
      const steps = [
        (above[at] ?? 0) + 1,
        (present[at - 1] ?? 0) + 1,
        (above[at - 1] ?? 0) + (isSame ? 0 : 1),
      ];
      const isSwapped = one[row - 1] === other[at - 2] && one[row - 2] === other[at - 1];
      if (isSwapped && row > 1 && at > 1) steps.push((before[at - 2] ?? 0) + 1);
      present.push(Math.min(...steps));
    }
    before = above;
    above = present;
  }
  return above[other.length] ?? 0;
}
