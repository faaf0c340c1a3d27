import { expect, test } from 'vitest';
import { computePrices, prices, shippingPrices } from '../../../infra/aws/cost/price-list.ts';

test('the price of an hour counts what its log and metrics take of the table', () => {
  const { unwatched, watched } = shippingPrices();
  const options = { clusterInstanceTypes: ['m6i.large'], gpuInstanceTypes: [], jobDiskGiB: 50 };
  const { fargate } = computePrices(options);
  const bare = prices.address.hour + 30 * prices.fargate.diskGbHour;
  expect(fargate.base - bare).toBeCloseTo(unwatched, 6);
  const hour = bare + prices.fargate.vcpuHour + 2 * prices.fargate.gibHour;
  expect(unwatched / hour).toBeLessThan(0.06);
  expect(watched / hour).toBeGreaterThan(unwatched / hour);
  expect(watched / hour).toBeLessThan(0.15);
});
