import { describe, expect, test } from 'vitest';
import { confusionOf } from '../../../functions/console/app/preview/confusion.ts';

const table = (columns: string[], rows: (string | number | null)[][]) => ({ columns, rows, isWhole: true });

describe('a table of truths and predictions', () => {
  test.each([
    ['label', 'prediction'],
    ['y_true', 'y_pred'],
    ['Target', 'Predicted class'],
    ['true label', 'pred'],
  ])('with the columns %s and %s counts how often each class was taken for another', (truth, prediction) => {
    const rows = [
      ['a.png', 'cat', 'cat'],
      ['b.png', 'cat', 'dog'],
      ['c.png', 'dog', 'dog'],
      ['d.png', 'dog', 'dog'],
    ];

    const confusion = confusionOf(table(['image', truth, prediction], rows));

    expect(confusion).toMatchObject({
      classes: ['cat', 'dog'],
      counts: [
        [1, 1],
        [0, 2],
      ],
      total: 4,
      right: 3,
    });
    expect(confusion?.rowsOf('cat', 'dog')).toEqual([['b.png', 'cat', 'dog']]);
  });

  test('has its classes of numbers in their order', () => {
    const confusion = confusionOf(
      table(
        ['target', 'prediction'],
        [
          [10, 2],
          [2, 10],
          [1, 1],
        ],
      ),
    );

    expect(confusion?.classes).toEqual(['1', '2', '10']);
  });
});

test.each([
  ['without predictions', ['label', 'score'], [['cat', 1]]],
  ['without rows', ['label', 'prediction'], []],
  [
    'with a number for each row',
    ['target', 'prediction'],
    Array.from({ length: 60 }, (_, at) => [at, at / 7]),
  ],
])('a table %s has no matrix', (_, columns, rows) => {
  expect(confusionOf(table(columns, rows))).toBeUndefined();
});
