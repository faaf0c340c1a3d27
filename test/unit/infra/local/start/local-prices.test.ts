import { expect, test } from 'vitest';
import { localPrices } from '../../../../../infra/local/start/local-prices.ts';
import { checkSettings } from '../../../../../infra/local/start/start-options.ts';
import { costEstimate } from '../../../../../shared/jobs/cost.ts';

const hour = { memory: 4096, gpus: 0, timeout: 3600 };

test('a job on this machine costs its vCPUs, on one node as on several', () => {
  const prices = localPrices('0.05');

  const single = costEstimate(prices, { ...hour, vcpus: 2, nodes: 1, isOnNodes: false });
  const cluster = costEstimate(prices, { ...hour, vcpus: 3, nodes: 4, isOnNodes: true });

  expect([single, cluster]).toEqual([0.1, 0.6]);
});

test('a price that is no number is refused at the start', () => {
  expect(() => checkSettings({ LOCAL_PRICE: 'cheap' })).toThrow(
    'LOCAL_PRICE must be US dollars for a vCPU-hour, from 0 to 1000, not "cheap".',
  );
});
