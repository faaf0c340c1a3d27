import { expect, test } from 'vitest';
import { computePrices } from '../../../infra/aws/cost/price-list.ts';
import { costEstimate } from '../../../shared/jobs/cost.ts';
import { estimateOf } from '../../../shared/sweeps/trials/show-sweep.ts';

/**
 * US dollars an hour of Fargate on Linux and x86 in us-east-1, a GB of its disk beyond 20, a public address, and of the
 * writes of DynamoDB for a log and metrics that are sent every ten seconds: eight units each time.
 */
const listed = { vcpu: 0.04048, gib: 0.004445, disk: 0.000111, address: 0.005, writes: 360 * 8 * 0.625e-6 };

test.each([
  [1, 2048, 900],
  [2, 4096, 3600],
  [4, 8192, 86_400],
  [16, 65_536, 14_400],
])(
  'the estimate of a sweep of trainings with %d vCPUs and %d MiB is that of the price list',
  (vcpus, memory, timeout) => {
    const prices = computePrices({ clusterInstanceTypes: [], gpuInstanceTypes: [], jobDiskGiB: 50 });
    const job = { isOnNodes: false, vcpus, memory, gpus: 0, nodes: 1, timeout };

    const run_cost = costEstimate(prices, job);
    const sweep = { trials: 20, run_cost, run_seconds: null, inputs: { timeout } };
    const { cost } = estimateOf(sweep, { repeats: 3, parallel: 4 });

    const hourly =
      vcpus * listed.vcpu + (memory / 1024) * listed.gib + 30 * listed.disk + listed.address + listed.writes;
    const plain = (20 * 3 * timeout * hourly) / 3600;
    expect(Math.abs((cost ?? 0) / plain - 1)).toBeLessThan(0.03);
  },
);
