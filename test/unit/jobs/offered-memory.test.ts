import { expect, test } from 'vitest';
import { isFargateSize, offeredMemory } from '../../../shared/jobs/fargate-sizes.ts';

test.each([
  [6000, undefined, 6144],
  [512, undefined, 512],
  [100, undefined, 512],
  [3000, 1, 3072],
  [9000, 1, undefined],
  [200_000, undefined, undefined],
])('%i MiB with %s vCPUs becomes %s', (memory, vcpus, expected) => {
  expect(offeredMemory(memory, vcpus)).toBe(expected);
  if (expected !== undefined && vcpus !== undefined)
    expect(isFargateSize({ vcpus, memory: expected })).toBe(true);
});
