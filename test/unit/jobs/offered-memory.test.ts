import { expect, test } from 'vitest';
import { fargateFault, isFargateSize, offeredMemory } from '../../../shared/jobs/fargate-sizes.ts';

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

test.each([
  [{}, undefined],
  [{ vcpus: 4 }, undefined],
  [{ memory: 6144 }, undefined],
  [{ vcpus: 3, memory: 6144 }, 'must be one of 0.25, 0.5, 1, 2, 4, 8, 16'],
  [{ vcpus: 1, memory: 9000 }, 'must be 2048 to 8192 in steps of 1024 with 1 vCPU'],
])('the size %j is refused with what is allowed, or not at all', (size, message) => {
  expect(fargateFault(size)?.message).toBe(message);
});
