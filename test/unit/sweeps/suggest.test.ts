import { expect, test } from 'vitest';
import { type Search, suggest } from '../../../shared/sweeps/suggest.ts';
import type { TrialResult } from '../../../shared/sweeps/types.ts';
import { sweepOf } from './some-sweep.ts';

test('a grid goes through all points, the last parameter first', () => {
  const grid = sweepOf({
    trials: undefined,
    method: 'grid',
    parameters: { a: { values: ['x', 'y'] }, b: { min: 0.1, max: 0.3, step: 0.1 } },
  });

  const points = firstOf(grid, 6);

  expect(points).toEqual([
    { a: 'x', b: 0.1 },
    { a: 'x', b: 0.2 },
    { a: 'x', b: 0.3 },
    { a: 'y', b: 0.1 },
    { a: 'y', b: 0.2 },
    { a: 'y', b: 0.3 },
  ]);
  expect(() => suggest(grid, 6, [])).toThrow('the grid has no trial 6');
});

test('a grid holds no point twice: neither fixed first trials nor values without a meaning', () => {
  const grid = sweepOf({
    trials: undefined,
    method: 'grid',
    parameters: {
      optimizer: { values: ['adam', 'sgd'] },
      momentum: { values: [0, 0.9], if: { optimizer: 'sgd' } },
    },
    start: [{ optimizer: 'sgd', momentum: 0.9 }],
  });

  const points = firstOf(grid, 3);

  expect(points).toEqual([
    { optimizer: 'sgd', momentum: 0.9 },
    { optimizer: 'adam' },
    { optimizer: 'sgd', momentum: 0 },
  ]);
});

test('a grid that gets more values tries those that are new', () => {
  const grid = {
    trials: undefined,
    method: 'grid',
    parameters: { a: { values: [1, 2] }, b: { values: [1, 2] } },
  };
  const known = resultsOf(firstOf(sweepOf(grid), 4));
  const wider = sweepOf({ ...grid, parameters: { a: { values: [1, 2] }, b: { values: [1, 2, 3] } } });

  const points = [suggest(wider, 4, known), suggest(wider, 5, known)];

  expect(points).toEqual([
    { a: 1, b: 3 },
    { a: 2, b: 3 },
  ]);
});

test.each(['random', 'sobol'])('trials of %s depend on the seed and their number alone', (method) => {
  const parameters = { lr: { min: 1e-4, max: 1e-1, scale: 'log' }, depth: { values: [2, 4, 8] } };
  const sweep = sweepOf({ method, seed: 7, parameters });
  const all = firstOf(sweep, 8);

  expect(suggest(sweep, 5, resultsOf(all))).toEqual(all[5]);
  expect(firstOf(sweepOf({ method, seed: 8, parameters }), 8)).not.toEqual(all);
  expect(
    firstOf(sweepOf({ method, seed: 7, parameters: { ...parameters, more: { min: 0, max: 1 } } }), 8),
  ).toMatchObject(all);
});

test.each(['random', 'sobol'])('%s takes every value of a parameter as often as the others', (method) => {
  const sweep = sweepOf({
    method,
    parameters: {
      choice: { values: ['a', 'b', 'c', 'd'] },
      whole: { min: 1, max: 4, step: 1 },
      log: { min: 1e-4, max: 1, scale: 'log' },
    },
  });

  const points = firstOf(sweep, 4096);

  const sharesOf = (name: string, keyOf: (value: unknown) => unknown) => {
    const counts = Map.groupBy(points, (point) => keyOf(point[name]));
    return [...counts.values()].map((group) => group.length / points.length);
  };
  for (const shares of [
    sharesOf('choice', String),
    sharesOf('whole', Number),
    sharesOf('log', (value) => Math.floor(Math.log10(Number(value)))),
  ]) {
    expect(shares).toHaveLength(4);
    for (const share of shares) expect(share).toBeCloseTo(0.25, 1);
  }
});

test.each(['random', 'sobol'])('%s sets a parameter only where its condition holds', (method) => {
  const sweep = sweepOf({
    method,
    parameters: {
      momentum: { min: 0, max: 1, if: { optimizer: ['sgd', 'rmsprop'] } },
      optimizer: { values: ['adam', 'sgd', 'rmsprop'] },
    },
  });

  const points = firstOf(sweep, 64);

  expect(points.every((point) => 'momentum' in point === (point['optimizer'] !== 'adam'))).toBe(true);
  expect(points.some((point) => 'momentum' in point)).toBe(true);
});

test.each(['random', 'sobol', 'tpe', 'external'])(
  'fixed first trials of %s come first, and their other values are chosen',
  (method) => {
    const parameters = { lr: { min: 0, max: 1 }, depth: { values: [2, 4, 8] } };
    const start = method === 'external' ? [] : [{ lr: 0.25 }, { depth: 8, lr: 0.5 }];

    const points = firstOf(sweepOf({ method, parameters, start }), 3);

    expect(points.slice(0, start.length)).toMatchObject(start);
    for (const point of points) expect(Object.keys(point)).toEqual(['depth', 'lr']);
  },
);

test('values are short decimals within their range', () => {
  const sweep = sweepOf({
    method: 'random',
    parameters: {
      lr: { min: 1e-4, max: 1e-1, scale: 'log' },
      narrow: { min: 1_000_000, max: 1_000_001 },
      wide: { min: 1, max: 1024, step: 1, scale: 'log' },
    },
  });

  const points = firstOf(sweep, 200);

  for (const { lr, narrow, wide } of points) {
    expect(String(lr).length).toBeLessThanOrEqual(12);
    expect(Number(narrow)).toBeGreaterThanOrEqual(1_000_000);
    expect(Number(narrow)).toBeLessThanOrEqual(1_000_001);
    expect(Number.isInteger(wide)).toBe(true);
  }
  expect(new Set(points.map(({ narrow }) => narrow)).size).toBe(200);
});

const firstOf = (search: Search, count: number) =>
  Array.from({ length: count }, (_, trial) => suggest(search, trial, []));

const resultsOf = (points: readonly TrialResult['params'][]): TrialResult[] =>
  points.map((params, trial) => ({ trial, params, value: trial, status: 'complete' }));
