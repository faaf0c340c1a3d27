import { expect, test } from 'vitest';
import { drawnSteps, histogramGrid } from '../../../functions/console/app/charts/values/histogram-grid.ts';

test('histograms of any bins stand over common rows, by shares, in the order of their steps', () => {
  const grid = histogramGrid(
    [
      { step: 2, bins: [{ low: 0, high: 4, count: 10 }] },
      {
        step: 1,
        bins: [
          { low: 0, high: 1, count: 3 },
          { low: 3, high: 3, count: 1 },
        ],
      },
      { step: 3, bins: [] },
    ],
    4,
  );

  expect(grid).toMatchObject({ steps: [1, 2], low: 0, high: 4 });
  expect([...(grid?.shares[0] ?? [])]).toEqual([0.75, 0, 0, 0.25]);
  expect([...(grid?.shares[1] ?? [])]).toEqual([0.25, 0.25, 0.25, 0.25]);
});

test('histograms of one value stand in the middle, and many steps are thinned', () => {
  const many = Array.from({ length: 1_000 }, (_, step) => ({ step, bins: [{ low: 2, high: 2, count: 5 }] }));

  const grid = histogramGrid(many, 4);

  expect(grid?.steps).toHaveLength(240);
  expect(grid).toMatchObject({ low: 1.5, high: 2.5 });
  expect(histogramGrid([], 4)).toBeUndefined();
});

test.each([240, 241, 480, 100_000])(
  'of %i steps at most 240 are drawn, evenly, with the first and the last',
  (count) => {
    const all = Array.from({ length: count }, (_, step) => step);
    const shown = drawnSteps(all);

    expect(shown).toHaveLength(240);
    expect([shown[0], shown.at(-1)]).toEqual([0, count - 1]);
    const gaps = shown.slice(1).map((step, at) => step - (shown[at] ?? 0));
    expect(Math.max(...gaps) - Math.min(...gaps)).toBeLessThanOrEqual(1);
    // A tile asks for these files, and its drawing draws each of them.
    expect(drawnSteps(shown)).toEqual(shown);
  },
);
