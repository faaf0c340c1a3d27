import { expect, test } from 'vitest';
import { suggest } from '../../../../shared/sweeps/suggest.ts';
import type { Params, TrialResult } from '../../../../shared/sweeps/types.ts';
import { sweepOf } from '../some-sweep.ts';

const plane = sweepOf({
  method: 'tpe',
  seed: 3,
  parameters: {
    x: { min: -5, max: 5 },
    y: { min: 1e-4, max: 1, scale: 'log' },
    kind: { values: ['a', 'b', 'c'] },
  },
});
const bowl = ({ x, y, kind }: Params) =>
  (Number(x) - 2) ** 2 + (Math.log10(Number(y)) + 2) ** 2 + (kind === 'b' ? 0 : 4);

test('trials gather where the best ones are', () => {
  const results = played(plane, bowl, 60);

  const late = results.slice(40);

  expect(late.filter(({ params }) => params['kind'] === 'b').length).toBeGreaterThan(14);
  expect(median(late.map(({ value }) => value ?? 9))).toBeLessThan(
    median(results.slice(0, 10).map(({ value }) => value ?? 9)) / 4,
  );
});

test('a greater value is better where the goal is to maximize', () => {
  const results = played({ ...plane, goal: 'maximize' }, (params) => -bowl(params), 40);

  expect(results.slice(30).map(({ params }) => params)).toEqual(
    played(plane, bowl, 40)
      .slice(30)
      .map(({ params }) => params),
  );
});

test('the same results in another order make the same trial', () => {
  const results = played(plane, bowl, 30);

  expect(suggest(plane, 30, results.toReversed())).toEqual(suggest(plane, 30, results));
});

test('trials that still run keep others away from their values', () => {
  const known = played(plane, bowl, 40);
  const best = known.reduce((one, other) => (Number(other.value) < Number(one.value) ? other : one));
  const running = Array.from(
    { length: 20 },
    (_, at): TrialResult => ({ trial: 40 + at, params: best.params, value: null, status: 'running' }),
  );
  const nearBest = (results: readonly TrialResult[]) =>
    Array.from({ length: 60 }, (_, at) => suggest(plane, 100 + at, results)).filter(
      ({ x }) => Math.abs(Number(x) - Number(best.params['x'])) < 0.5,
    ).length;

  expect(nearBest([...known, ...running])).toBeLessThan(nearBest(known));
});

test('trials without a value, with NaN or that failed are never among the good ones', () => {
  const good = played(plane, bowl, 12);
  const bad = Array.from(
    { length: 30 },
    (_, at): TrialResult => ({
      trial: 12 + at,
      params: { x: -4, y: 0.9, kind: 'c' },
      value: [null, Number.NaN, Number.NEGATIVE_INFINITY][at % 3] ?? null,
      status: at % 2 === 0 ? 'complete' : 'failed',
    }),
  );

  const next = Array.from({ length: 20 }, (_, at) => suggest(plane, 42 + at, [...good, ...bad]));

  expect(next.filter(({ x, kind }) => Number(x) < -3 && kind === 'c')).toEqual([]);
});

test('a condition has its parameter estimated from the trials that had it', () => {
  const sweep = sweepOf({
    method: 'tpe',
    parameters: {
      optimizer: { values: ['adam', 'sgd'] },
      momentum: { min: 0, max: 1, if: { optimizer: 'sgd' } },
      fixed: { value: 3 },
    },
  });

  const results = played(
    sweep,
    ({ momentum }) => (momentum === undefined ? 1 : Math.abs(Number(momentum) - 0.9)),
    60,
  );

  expect(results.every(({ params }) => 'momentum' in params === (params['optimizer'] === 'sgd'))).toBe(true);
  expect(results.every(({ params }) => params['fixed'] === 3)).toBe(true);
  const late = results.slice(40).filter(({ params }) => params['momentum'] !== undefined);
  expect(late.length).toBeGreaterThan(12);
  expect(median(late.map(({ value }) => value ?? 9))).toBeLessThan(0.1);
});

/** Play a sweep of which each trial ends before the next begins. */
function played(
  sweep: Parameters<typeof suggest>[0],
  lossOf: (params: Params) => number,
  trials: number,
): TrialResult[] {
  const results: TrialResult[] = [];
  for (let trial = 0; trial < trials; trial += 1) {
    const params = suggest(sweep, trial, results);
    results.push({ trial, params, value: lossOf(params), status: 'complete' });
  }
  return results;
}

const median = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[values.length >> 1] ?? Number.NaN;
