/**
 * Return every key that the roots reach, with its conditions. One of the conditions must hold. An empty list means
 * always.
 *
 * @param needs returns the dependencies of a key
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
    // Follow only new conditions.
    for (const [condition, markers] of after)
      if (!before.has(condition)) for (const one of needs(key)) waiting.push({ need: one, under: markers });
  }
  const text = (markers: readonly string[]): string =>
    markers.length === 1 ? markers.join('') : markers.map((marker) => `(${marker})`).join(' and ');
  return new Map(
    [...found].map(([key, all]) => [key, all.has('') ? [] : [...all.values()].map(text).sort()]),
  );
}

/** A dependency: a key of the graph, with an optional environment marker. */
export interface Need {
  key: string;
  marker?: string | undefined;
}

/** Alternative conditions. One must hold. Each is a set of markers that must all hold. */
type Alternatives = ReadonlyMap<string, readonly string[]>;

/** Maximum number of alternatives of a package. Beyond this limit, the package is installed unconditionally. */
const maxAlternatives = 12;

/** Drop alternatives that another one implies. An alternative without markers implies all others. */
function simplified(all: Alternatives): Alternatives {
  const sets = [...all.values()].sort((a, b) => a.length - b.length);
  const kept: (readonly string[])[] = [];
  for (const set of sets)
    if (!kept.some((other) => other.every((marker) => set.includes(marker)))) kept.push(set);
  if (kept.length > maxAlternatives) return new Map([['', []]]);
  return new Map(kept.map((set) => [keyOf(set), set]));
}

const keyOf = (markers: readonly string[]): string => markers.join('\n');
