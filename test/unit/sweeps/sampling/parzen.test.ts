import { expect, test } from 'vitest';
import { normalMass, truncatedQuantile } from '../../../../shared/sweeps/sampling/normal.ts';
import { type Axis, estimateDensity } from '../../../../shared/sweeps/sampling/parzen.ts';
import { scaleOf } from '../../../../shared/sweeps/sampling/scale.ts';
import { seeded } from '../../../../shared/sweeps/sampling/seeded.ts';
import { fixture } from './fixture.ts';

test("the normal distribution is SciPy's, also far from 0", async () => {
  const { mass, quantile } = await fixture<Record<'mass' | 'quantile', number[][]>>('normal.json');

  for (const [low = 0, high = 0, expected = 0] of mass)
    expect(Math.abs(normalMass(low, high) / expected - 1)).toBeLessThan(1e-9);
  for (const [share = 0, low = 0, high = 0, expected = 0] of quantile)
    expect(truncatedQuantile(share, low, high)).toBeCloseTo(expected, 9);
});

test("densities over choices, ranges, logarithms and steps are those of Optuna's estimator", async () => {
  const cases =
    await fixture<{ observed: number[][]; points: number[][]; logDensities: number[] }[]>('parzen.json');
  const range = { kind: 'range', step: undefined, isLog: false } as const;
  const scales = [
    scaleOf({ kind: 'choices', values: [0, 1, 2] }),
    scaleOf({ ...range, min: 1e-4, max: 1e-1, isLog: true }),
    scaleOf({ ...range, min: 1, max: 1024, step: 1, isLog: true }),
    scaleOf({ ...range, min: -2, max: 3 }),
    scaleOf({ ...range, min: 16, max: 1600, step: 16 }),
  ];
  const positions = (row: readonly number[]) =>
    scales.map((scale, at) => scale.positionOf(row[at]) ?? Number.NaN);

  for (const { observed, points, logDensities } of cases) {
    const density = estimateDensity(
      scales.map(({ axis }) => axis),
      observed.map(positions),
    );

    const found = points.map((point) => density.logDensity(positions(point)));

    for (const [at, expected] of logDensities.entries()) expect(found[at]).toBeCloseTo(expected, 8);
  }
});

test('drawn points have the density', () => {
  const axes: Axis[] = [
    { kind: 'range', low: 0, high: 1, cellOf: undefined },
    { kind: 'choices', count: 3 },
  ];
  const density = estimateDensity(axes, [
    [0.1, 0],
    [0.15, 0],
    [0.9, 2],
  ]);
  const random = seeded('draws');
  const drawn = Array.from({ length: 4000 }, () => density.draw(random));

  for (const choice of [0, 1, 2]) {
    for (const [low, high] of [
      [0, 0.25],
      [0.25, 0.75],
      [0.75, 1],
    ] as const) {
      const share = drawn.filter(([x = 0, c]) => c === choice && x >= low && x < high).length / drawn.length;
      const middles = Array.from({ length: 200 }, (_, at) => low + ((at + 0.5) * (high - low)) / 200);
      const expected = middles.reduce(
        (sum, x) => sum + (Math.exp(density.logDensity([x, choice])) * (high - low)) / 200,
        0,
      );

      expect(share).toBeCloseTo(expected, 1.4);
    }
  }
});
