import { expect, test } from 'vitest';
import type { Prices } from '../../../shared/core/prices.ts';
import { actualCost, costEstimate, hourlyCost } from '../../../shared/jobs/cost.ts';

const prices: Prices = {
  fargate: { base: 0.01, vcpu: 0.04, gib: 0.005 },
  nodes: [
    { vcpus: 4, memory: 16_384, gpus: 0, price: 0.2 },
    { vcpus: 8, memory: 32_768, gpus: 0, price: 0.4 },
    { vcpus: 8, memory: 32_768, gpus: 1, price: 1 },
  ],
};
const job = { isOnNodes: false, vcpus: 2, memory: 4096, gpus: 0, nodes: 1 };

test('a container costs its base, vCPUs and memory', () => {
  expect(hourlyCost(prices, job)).toBeCloseTo(0.01 + 0.08 + 0.02, 9);
});

test('a cluster costs its nodes, each the cheapest that is large enough', () => {
  const cluster = { ...job, isOnNodes: true, nodes: 3 };
  expect(hourlyCost(prices, cluster)).toBeCloseTo(0.6, 9);
  expect(hourlyCost(prices, { ...cluster, memory: 16_384 })).toBeCloseTo(1.2, 9);
  expect(hourlyCost(prices, { ...cluster, gpus: 1 })).toBeCloseTo(3, 9);
  expect(hourlyCost(prices, { ...cluster, gpus: 2 })).toBeNull();
});

test('an estimate is for all the time that a job may take, at least a minute of it', () => {
  expect(costEstimate(prices, { ...job, timeout: 1800 })).toBe(0.055);
  expect(costEstimate(prices, { ...job, timeout: 1 })).toBe(costEstimate(prices, { ...job, timeout: 60 }));
  expect(costEstimate(undefined, { ...job, timeout: 1800 })).toBeNull();
});

const at = (seconds: number): string => new Date(1_700_000_000_000 + seconds * 1000).toISOString();
const ended = {
  cost_estimate: 3.6,
  timeout: 3600,
  started_at: at(0),
  stopped_at: at(600),
  attempts: [],
  batch_attempt: 1,
};

test('the actual cost is that of the time it took, of all attempts together', () => {
  expect(actualCost(ended)).toBe(0.6);
  const attempts = [
    { started_at: at(0), stopped_at: at(400) },
    { started_at: at(450), stopped_at: at(950) },
  ];
  expect(actualCost({ ...ended, attempts })).toBe(0.9);
  expect(actualCost({ ...ended, stopped_at: at(5) })).toBe(0.06);
});

test('the wait for a new host after one was lost costs nothing', () => {
  const lost = [{ started_at: at(0), stopped_at: at(400) }];
  const second = { ...ended, batch_attempt: 2, attempts: lost, stopped_at: at(2500) };
  const reported = [...lost, { started_at: at(2000), stopped_at: at(2500) }];

  expect(actualCost({ ...second, attempt_started_at: at(2000) })).toBe(0.9);
  expect(actualCost({ ...second, attempt_started_at: at(2000), attempts: reported })).toBe(0.9);
  // Nobody knows the start of an attempt that was not reported.
  expect(actualCost({ ...second, attempt_started_at: at(2000), attempts: [] })).toBe(2.5);
  expect(actualCost(second)).toBe(2.5);
});

test('there is none before the end, none for what never started, and none without a price', () => {
  expect(actualCost({ ...ended, stopped_at: null })).toBeNull();
  expect(actualCost({ ...ended, started_at: null })).toBe(0);
  expect(actualCost({ ...ended, cost_estimate: null })).toBeNull();
});
