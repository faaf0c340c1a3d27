import { expect, test } from 'vitest';
import { computePrices } from '../../../../infra/aws/cost/price-list.ts';
import { readOptions } from '../../../../infra/aws/options/deployment-options.ts';
import { faultsOf } from '../../../../shared/core/service-error.ts';
import { hourlyCost } from '../../../../shared/jobs/cost.ts';
import { nodeSize } from '../../../../shared/jobs/size.ts';

const gpuTypes = ['g4dn.xlarge', 'g6.xlarge', 'g6e.2xlarge', 'g5.12xlarge', 'p4d.24xlarge', 'p5.48xlarge'];
const prices = computePrices(readOptions({ gpuInstanceTypes: gpuTypes, gpuMaxVcpus: 192 }));
const deployment = { gpus: 8, jobsRunAs: 'containers', prices } as const;

test('with GPUs a job has all the memory of the smallest node that has them', () => {
  expect(nodeSize({ gpus: 1 }, deployment)).toEqual({ vcpus: 1, memory: 15_400, gpus: 1 });
  expect(nodeSize({ gpus: 1, vcpus: 8 }, deployment)).toMatchObject({ memory: 61_603 });
  expect(nodeSize({ gpus: 2 }, deployment)).toMatchObject({ memory: 184_811 });
  expect(nodeSize({ gpus: 8 }, deployment)).toMatchObject({ memory: 1_108_869 });
  expect(nodeSize({ gpus: 8, vcpus: 192 }, deployment)).toMatchObject({ memory: 1_971_322 });
  expect(nodeSize({ gpus: 1, memory: 4096 }, deployment)).toMatchObject({ memory: 4096 });
});

test('without a known node, and without GPUs, memory goes by vCPUs', () => {
  expect(nodeSize({ gpus: 1, vcpus: 4 }, { ...deployment, prices: undefined }).memory).toBe(8192);
  expect(nodeSize({ vcpus: 4 }, deployment)).toEqual({ vcpus: 4, memory: 8192, gpus: 0 });
});

test('all the memory of a node is no more than the node is priced for', () => {
  const size = nodeSize({ gpus: 1 }, deployment);
  const [cheapest] = prices.nodes.filter(({ gpus }) => gpus === 1);
  expect(hourlyCost(prices, { ...size, isOnNodes: true, nodes: 1 })).toBe(cheapest?.price);
});

test('a deployment without GPUs says so, with what else is wrong', () => {
  const none = { ...deployment, gpus: 0, prices: undefined };
  expect(faultsOf(() => nodeSize({ gpus: 1, vcpus: 1.5 }, none))).toMatchObject([
    { name: 'vcpus' },
    { name: 'gpus', message: expect.stringContaining('has no GPUs') },
  ]);
  expect(nodeSize({ gpus: 0 }, none).gpus).toBe(0);
});

test('every family of GPUs has its price', () => {
  expect(prices.nodes.filter(({ gpus }) => gpus > 0)).toHaveLength(gpuTypes.length);
});
