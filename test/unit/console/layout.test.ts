import { describe, expect, test } from 'vitest';
import {
  inGivenOrder,
  movedOrder,
  panelText,
  readPanel,
  readSizes,
  sizeTexts,
} from '../../../functions/console/app/charts/panels/layout.ts';

describe('the order of charts', () => {
  const names = ['a', 'b', 'c', 'd'];

  test('is the given one, and the others follow as they were', () => {
    expect(inGivenOrder(names, ['c', 'gone', 'a'])).toEqual(['c', 'a', 'b', 'd']);
  });

  test.each([
    ['c', 0, ['c', 'a', 'b', 'd']],
    ['a', 2, ['b', 'c', 'a', 'd']],
    ['d', 3, ['a', 'b', 'c', 'd']],
    ['a', 99, ['b', 'c', 'd', 'a']],
  ])('after %s moves to %i is %j, and charts of other sections keep theirs', (name, to, expected) => {
    const order = movedOrder(names, ['other', 'second'], name, to);

    expect(inGivenOrder(names, order)).toEqual(expected);
    expect(inGivenOrder(['second', 'other'], order)).toEqual(['other', 'second']);
  });

  test('keeps an earlier move', () => {
    const first = movedOrder(names, [], 'd', 0);
    const shown = inGivenOrder(names, first);

    expect(inGivenOrder(names, movedOrder(shown, first, 'b', 1))).toEqual(['d', 'b', 'a', 'c']);
  });
});

test('a panel is read from its text, whatever its metrics are called', () => {
  const panel = { kind: 'lines' as const, metrics: ['val/loss', 'a:b,c %', '🦜'] };

  expect(readPanel(panelText(panel))).toEqual(panel);
  for (const wrong of ['', 'lines', 'pie:a', 'scatter:a', 'scatter:a:b:c'])
    expect(readPanel(wrong)).toBeUndefined();
});

test('sizes of charts are read from their texts; the usual size has none', () => {
  const sizes = new Map([
    ['val/loss', { wide: 2, high: 1 }],
    ['1x1:odd', { wide: 3, high: 3 }],
    ['usual', { wide: 1, high: 1 }],
  ]);

  expect([...readSizes(sizeTexts(sizes))]).toEqual([...sizes].slice(0, 2));
  expect(readSizes(['9x9:a', 'x', '2x1:'])).toEqual(new Map());
});
