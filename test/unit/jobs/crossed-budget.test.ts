import { expect, test } from 'vitest';
import { crossedBudget } from '../../../shared/jobs/budget.ts';

test.each([
  { spent: 8.9, amount: 10, before: undefined, notice: undefined },
  { spent: 9, amount: 10, before: undefined, notice: 'warning' },
  { spent: 9.9, amount: 10, before: 'warning', notice: undefined },
  { spent: 10, amount: 10, before: 'warning', notice: 'reached' },
  { spent: 12, amount: 10, before: undefined, notice: 'reached' },
  { spent: 12, amount: 10, before: 'reached', notice: undefined },
  { spent: 12, amount: null, before: undefined, notice: undefined },
] as const)('US$ $spent of $amount after $before: $notice is new', ({ spent, amount, before, notice }) => {
  expect(crossedBudget(spent, amount, before)).toBe(notice);
});
