import { expect, test } from 'vitest';
import { mostCost } from '../../../cli/run/most-cost.ts';

const costs = (cost_estimate: number | null) => ({ cost_estimate, spot: null });

test('a training costs at most its timeout, without a budget', () => {
  expect(mostCost(costs(4.2), undefined)).toBe(', at most US$ 4.20');
  expect(mostCost(costs(null), undefined)).toBe('');
});

test('a budget that ends it sooner is what it costs at most', () => {
  expect(mostCost(costs(4.2), 1)).toBe(', at most US$ 1.00 by its budget (US$ 4.20 up to its timeout)');
});

test('a budget that it cannot reach is said to be more', () => {
  expect(mostCost(costs(4.2), 10)).toBe(', at most US$ 4.20, less than its budget');
});

test('one that may stay on Spot says what it costs then, too', () => {
  const spot = { estimate: 1.4, interruptions: 0, saved: null, on_demand_cost: null };

  expect(mostCost({ cost_estimate: 4.2, spot }, undefined)).toBe(
    ', at most US$ 4.20, US$ 1.40 if it stays on Spot',
  );
  expect(mostCost({ cost_estimate: 1.4, spot }, undefined)).toBe(', at most US$ 1.40');
});
