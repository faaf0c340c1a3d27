import { expect, test } from 'vitest';
import { cycles } from '../../../../shared/config/graph/cycles.ts';
import fc from '../../../support/seeded-fast-check.ts';

test.each([
  ['nothing', [], []],
  ['a chain', [[1], [2], []], []],
  ['a loop', [[0], []], [[0]]],
  ['a ring', [[1], [2], [0]], [[0, 1, 2]]],
  [
    'two rings with a bridge',
    [[1], [0, 2], [3], [2]],
    [
      [0, 1],
      [2, 3],
    ],
  ],
  ['a ring entered from outside', [[2], [1], [3], [2, 1]], [[1], [2, 3]]],
  ['a diamond', [[1, 2], [3], [3], []], []],
])('%s', (_, successors, expected) => {
  expect(cycles(successors)).toEqual(expected);
});

test('a ring of 100,000', () => {
  const size = 100_000;
  expect(cycles(Array.from({ length: size }, (_, i) => [(i + 1) % size]))[0]).toHaveLength(size);
});

test('two nodes share a cycle when each reaches the other', () => {
  const graphs = fc
    .integer({ min: 1, max: 8 })
    .chain((size) =>
      fc.array(fc.array(fc.nat(size - 1), { maxLength: 3 }), { minLength: size, maxLength: size }),
    );
  fc.assert(
    fc.property(graphs, (successors) => {
      const found = cycles(successors);
      const reach = successors.map((_, start) => reached(successors, start));
      for (const a of successors.keys()) {
        const mates = [...successors.keys()].filter((b) => reach[a]?.has(b) && reach[b]?.has(a));
        expect(found.find((cycle) => cycle.includes(a)) ?? []).toEqual(mates);
      }
    }),
  );
});

/** What can be reached from a node by at least one edge. */
function reached(successors: readonly (readonly number[])[], start: number): Set<number> {
  const seen = new Set(successors[start]);
  for (const node of seen) for (const next of successors[node] ?? []) seen.add(next);
  return seen;
}
