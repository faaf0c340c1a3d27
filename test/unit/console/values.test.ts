import { describe, expect, test } from 'vitest';
import { chosenBy } from '../../../functions/console/app/charts/parallel/brushes.ts';
import { axisOf, isVarying } from '../../../functions/console/app/charts/values/axis.ts';
import { ranksOf } from '../../../functions/console/app/charts/values/ranks.ts';

describe('an axis', () => {
  test('of texts that are numbers is one of numbers, logarithmic over two powers of ten', () => {
    const axis = axisOf('lr', ['0.001', '0.1', '1', undefined]);

    expect(axis).toMatchObject({ isLog: true, low: 0.001, high: 1, words: [] });
    expect(axis?.placeOf(0.001)).toBeCloseTo(0);
    expect(axis?.unitAt(axis.placeOf(0.1))).toBeCloseTo(0.1);
    expect(axis?.units[3]).toBeUndefined();
  });

  test('has no place for NaN and infinity', () => {
    const axis = axisOf('loss', [1, Number.NaN, Number.POSITIVE_INFINITY, 3]);

    expect(axis).toMatchObject({ low: 1, high: 3, units: [1, undefined, undefined, 3] });
  });

  test('of words has them in their order, with numbers by size', () => {
    const axis = axisOf('size', ['b10', 'b9', true]);

    expect(axis?.words).toEqual(['b9', 'b10', 'true']);
  });

  test('of one value lies in the middle, and does not vary', () => {
    const axis = axisOf('depth', [4, 4]);

    expect(axis?.placeOf(4)).toBeCloseTo(0.5);
    expect(axis !== undefined && isVarying(axis)).toBe(false);
  });

  test('is missing where nothing has a value', () => {
    expect(axisOf('loss', [undefined, Number.NaN])).toBeUndefined();
  });
});

test('brushes choose what all of them hold, and nothing without a value', () => {
  const axes = [axisOf('a', [1, 2, 3, undefined]), axisOf('b', [1, 1, 9, 1])].filter(
    (one) => one !== undefined,
  );
  const brushes = new Map([
    ['a', [2, 3] as const],
    ['b', [0, 2] as const],
  ]);

  expect(chosenBy(axes, brushes, 4)).toEqual([false, true, false, false]);
});

test('ranks put the best last, by the goal, whatever the distances are', () => {
  expect(ranksOf([1, 1e9, 5, undefined], true)).toEqual([1, 0, 0.5, undefined]);
  expect(ranksOf([1, 1e9, 5], false)).toEqual([0, 1, 0.5]);
});
