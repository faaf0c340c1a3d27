/**
 * Return a place between the worst and the best value for each value: its rank, so that a few huge values do not leave
 * one colour for all others.
 */
export function ranksOf(
  values: readonly (number | undefined)[],
  isMinimized: boolean,
): (number | undefined)[] {
  const given = [...new Set(values.filter((value) => value !== undefined))].sort((a, b) =>
    isMinimized ? b - a : a - b,
  );
  const places = new Map(
    given.map((value, index) => [value, given.length === 1 ? 1 : index / (given.length - 1)]),
  );
  return values.map((value) => (value === undefined ? undefined : places.get(value)));
}
