import { describe, expect, test } from 'vitest';
import {
  columnPad,
  fitColumn,
  isRight,
  mostDecimals,
  paramColumn,
  wordsWidth,
} from '../../../../../../functions/console/app/runs/columns.ts';
import type { Row } from '../../../../../../functions/console/app/runs/row.ts';
import { numberText } from '../../../../../../functions/console/app/ui/text/format.ts';

const column = (values: readonly number[]) => {
  const shown = {
    id: 'value',
    label: 'value',
    isNumber: true,
    width: 7,
    value: (at: number) => values[at],
    text: (at: number) => numberText(values[at]),
    show: numberText,
  };
  return { ...shown, decimals: mostDecimals(shown, [...values.keys()]) };
};
/** What stands before the point, and how many places what follows it takes. */
const padded = (values: readonly number[]) => {
  const of = column(values);
  return values.map((_, at) => of.text(at) + columnPad(of.text(at), of));
};

describe('numbers of a column', () => {
  test('have their points below each other', () => {
    const texts = padded([0.91559, 0.914, 0.5, 3, -0.25, 1234]);
    const after = texts.map((text) => text.length - text.search(/[.\u2008]/));
    expect(after).toEqual([6, 6, 6, 6, 6, 6]);
  });

  test('stay as they are if none has decimal places, or if it is written with a power of ten', () => {
    expect(padded([3, 1234])).toEqual(['3', '1,234']);
    expect(padded([2.5e-9, 0.25])[0]).toBe('2.5e-9');
  });

  test('are never wider than their cell', () => {
    const [wide = ''] = padded([1_234_567, 0.012345]);
    expect(wide).toBe('1,234,567');
  });

  test('of another unit, and of words, are left alone', () => {
    const seconds = { ...column([1.25]), show: (value: number) => `${value} s` };
    expect(mostDecimals(seconds, [0])).toBe(0);
    expect(columnPad('NaN', column([0.125]))).toBe('');
  });
});

describe('params', () => {
  const fitted = (texts: readonly string[]) => {
    const rows = texts.map((lr) => ({ params: { lr } }) as unknown as Row);
    const column = fitColumn(paramColumn('lr'), rows);
    const shown = rows.map((row) => column.text(row) + columnPad(column.text(row), column));
    return { isRight: isRight(column), after: shown.map((text) => text.length - text.search(/[.\u2008]/)) };
  };

  test('that are all numbers are aligned like metrics, as they were written', () => {
    expect(fitted(['32', '0.1', '0.0003'])).toEqual({ isRight: true, after: [5, 5, 5] });
  });

  test('of which one is a word stand at the left', () => {
    expect(fitted(['0.1', 'auto']).isRight).toBe(false);
  });
});

test('a column of words is as wide as they are, up to a bound', () => {
  const shown = (words: readonly string[]) => ({
    ...column([]),
    isNumber: false,
    text: (at: number) => words[at] ?? '',
  });
  const width = (...words: string[]) => wordsWidth(shown(words), [...words.keys()]);

  expect(width('sgd')).toBe(7);
  expect(width('sgd', 'efficientnet_b0')).toBeGreaterThan(9);
  expect(width('w'.repeat(500))).toBe(14);
});
