/**
 * What is reached from these roots, with the markers under which it is: one of them must hold; empty where it always is.
 *
 * @param needs of a key
 */
export function reached(
  roots: readonly Need[],
  needs: (key: string) => readonly Need[],
): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, Alternatives>();
  const waiting: { need: Need; under: readonly string[] }[] = roots.map((need) => ({ need, under: [] }));
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { need, under } = next;
    const { key, marker } = need;
    const all = marker === undefined || under.includes(marker) ? under : [...under, marker].sort();
    const before = found.get(key) ?? new Map<string, readonly string[]>();
    const after = simplified(new Map([...before, [keyOf(all), all]]));
    if (before.size === after.size && [...after.keys()].every((one) => before.has(one))) continue;
    found.set(key, after);
    // Only what is new has consequences.
    for (const [condition, markers] of after)
      if (!before.has(condition)) for (const one of needs(key)) waiting.push({ need: one, under: markers });
  }
  const text = (markers: readonly string[]): string =>
    markers.length === 1 ? markers.join('') : markers.map((marker) => `(${marker})`).join(' and ');
  return new Map(
    [...found].map(([key, all]) => [key, all.has('') ? [] : [...all.values()].map(text).sort()]),
  );
}

/** Something that a package needs: a key of the graph, under a marker. */
export interface Need {
  key: string;
  marker?: string | undefined;
}

/** Conditions, one of which must hold; each is a set of markers that hold together. */
type Alternatives = ReadonlyMap<string, readonly string[]>;

/** Many ways lead to a common package; beyond this its condition is as long as it is useless. */
const maxAlternatives = 12;

/** Without what another alternative implies: whatever needs nothing is always there. */
function simplified(all: Alternatives): Alternatives {
  const sets = [...all.values()].sort((one, other) => one.length - other.length);
  const kept: (readonly string[])[] = [];
  for (const set of sets)
    if (!kept.some((other) => other.every((marker) => set.includes(marker)))) kept.push(set);
  if (kept.length > maxAlternatives) return new Map([['', []]]);
  return new Map(kept.map((set) => [keyOf(set), set]));
}

const keyOf = (markers: readonly string[]): string => markers.join('\n');
