import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { axisOf } from '../../../../../../../functions/console/app/charts/values/axis.ts';
import {
  forestRows,
  parameterImportance,
} from '../../../../../../../functions/console/app/sweeps/importance/parameter-importance.ts';
import { permutationImportance } from '../../../../../../../functions/console/app/sweeps/importance/random-forest.ts';

interface Fixture {
  name: string;
  columns: number[][];
  target: number[];
  /** Shares by scikit-learn's forest and permutation importance on rows that it had not seen. */
  shares: number[];
  explained: number;
  /** By scipy.stats.spearmanr. */
  correlations: number[];
}

const fixtures: Fixture[] = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../../../../../fixtures/sweeps/importance.json'), 'utf8'),
);

function axesOf(columns: readonly (readonly (number | string | undefined)[])[], target: readonly number[]) {
  const inputs = columns.flatMap((values, index) => axisOf(`p${index}`, values) ?? []);
  const outcome = axisOf('loss', target, { isOutcome: true });
  if (outcome === undefined) throw new Error('no outcome');
  return { inputs, outcome };
}

describe('importance, beside scikit-learn', () => {
  test.each(fixtures)('$name', ({ columns, target, shares, explained, correlations }) => {
    const { inputs, outcome } = axesOf(columns, target);

    const found = permutationImportance(forestRows(inputs, outcome));

    expect(Math.abs(found.explained - explained)).toBeLessThan(0.15);
    const told = parameterImportance(inputs, outcome, found);
    for (const [index, correlation] of correlations.entries())
      expect(told.find(({ name }) => name === `p${index}`)?.correlation).toBeCloseTo(correlation, 7);
    if (explained < 0.1) expect(told.map(({ share }) => share)).toEqual(columns.map(() => undefined));
    else
      for (const [index, share] of shares.entries())
        expect(Math.abs((found.shares[index] ?? 0) - share)).toBeLessThan(0.1);
  });
});

test('a diverged trial weighs no more than another bad one', () => {
  const [first] = fixtures;
  if (first === undefined) throw new Error('no fixture');
  const { inputs, outcome } = axesOf(first.columns, first.target);
  const worst = first.target.indexOf(Math.max(...first.target));
  const diverged = axesOf(first.columns, first.target.with(worst, 1e30));

  const found = permutationImportance(forestRows(diverged.inputs, diverged.outcome));

  expect(found).toEqual(permutationImportance(forestRows(inputs, outcome)));
});

test('texts count, and a value that only some trials have', () => {
  const random = fixtures[0]?.columns[1] ?? [];
  const kinds = random.map((_, index) => ['adam', 'lion', 'sgd'][Math.floor(index / 3) % 3] ?? '');
  const momentum = random.map((value, index) => (index % 3 === 2 ? value : undefined));
  const { inputs, outcome } = axesOf(
    [kinds, momentum, random],
    random.map((value, index) => (index % 3 === 2 ? value : 2)),
  );

  const told = parameterImportance(inputs, outcome, permutationImportance(forestRows(inputs, outcome)));

  expect(told[0]?.name).toBe('p1');
  expect(told.find(({ name }) => name === 'p0')).toMatchObject({ correlation: undefined });
  expect(told.find(({ name }) => name === 'p1')?.correlation).toBeCloseTo(1, 10);
});

test('of more than 2,000 trials the forest sees 2,000', () => {
  const values = Array.from({ length: 10_000 }, (_, index) => index);
  const { inputs, outcome } = axesOf([values], values);

  const { columns, target } = forestRows(inputs, outcome);

  expect([columns[0]?.length, target.length]).toEqual([2_000, 2_000]);
  expect([target[0], target.at(-1)]).toEqual([1, 2_000]);
});

test('without differences nothing matters', () => {
  const { explained, shares } = permutationImportance({
    columns: [Float64Array.of(1, 2, 3, 4)],
    target: Float64Array.of(1, 1, 1, 1),
  });

  expect({ explained, shares }).toEqual({ explained: 0, shares: [0] });
});
