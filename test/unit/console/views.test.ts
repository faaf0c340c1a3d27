import { describe, expect, test } from 'vitest';
import {
  isShownAs,
  viewAddress,
  withView,
} from '../../../functions/console/app/experiments/views/saved-view.ts';
import { differenceFrom } from '../../../functions/console/app/runs/difference.ts';

describe('the address of a view', () => {
  test('keeps settings of the table in one order, and nothing of the moment', () => {
    const query = new URLSearchParams(
      'sort=-best&view=own.a&hide=1,2&zoom=1..2&baseline=x&filter=lr%20%3C%200.1&group=',
    );

    const address = viewAddress(query, { columns: 'status,best' });

    expect(address).toBe('columns=status%2Cbest&filter=lr+%3C+0.1&sort=-best');
    expect(viewAddress(new URLSearchParams(address), {})).toBe(address);
  });
});

test('a view without columns is shown in any columns, one with columns in these', () => {
  const shown = 'columns=status&sort=-best';

  expect(isShownAs({ name: 'a', address: 'sort=-best' }, shown)).toBe(true);
  expect(isShownAs({ name: 'a', address: 'sort=-best&columns=status' }, shown)).toBe(true);
  expect(isShownAs({ name: 'a', address: 'sort=-best&columns=best' }, shown)).toBe(false);
  expect(isShownAs({ name: 'a', address: 'sort=best' }, shown)).toBe(false);
});

describe('views in a list', () => {
  const views = [
    { name: 'a', address: '1' },
    { name: 'b', address: '2' },
  ];

  test('are replaced in their place by one of the same name', () => {
    expect(withView(views, { name: 'a', address: '3' })).toEqual([{ name: 'a', address: '3' }, views[1]]);
  });

  test('keep their place under a new name, and a name is there once', () => {
    expect(withView(views, { name: 'c', address: '1' }, 'a')).toEqual([
      { name: 'c', address: '1' },
      views[1],
    ]);
    expect(withView(views, { name: 'b', address: '1' }, 'a')).toEqual([{ name: 'b', address: '1' }]);
  });
});

test.each([
  [0.9, 0.912345, 'maximize', '+0.0123', true],
  [0.9, 0.8, 'maximize', '−0.1', false],
  [0.5, 0.25, 'minimize', '−0.25', true],
  [0.5, 0.25, undefined, '−0.25', undefined],
  [0.1, 0.1, 'maximize', '±0', undefined],
] as const)('the difference from %f to %f of a metric to %s is %s', (base, value, goal, text, isBetter) => {
  expect(differenceFrom(base, value, goal)).toEqual({ text, isBetter });
});

test('a difference from or of no finite number is none', () => {
  expect(differenceFrom(Number.NaN, 1, 'maximize')).toBeUndefined();
  expect(differenceFrom(1, Number.POSITIVE_INFINITY, 'maximize')).toBeUndefined();
  expect(differenceFrom(1, 'x', 'maximize')).toBeUndefined();
});
