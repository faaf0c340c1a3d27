import { expect, test } from 'vitest';
import { mostCost } from '../../../cli/run/most-cost.ts';

test('a training costs at most its timeout, without a budget', () => {
  expect(mostCost(4.2, undefined)).toBe(', at most US$ 4.20');
  expect(mostCost(null, undefined)).toBe('');
});

test('a budget that ends it sooner is what it costs at most', () => {
  expect(mostCost(4.2, 1)).toBe(', at most US$ 1.00 by its budget (US$ 4.20 up to its timeout)');
});

test('a budget that it cannot reach is said to be more', () => {
  expect(mostCost(4.2, 10)).toBe(', at most US$ 4.20, less than its budget');
});
