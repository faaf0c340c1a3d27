import { tmpdir } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import type { MetricPoint } from '../../../../shared/data/metrics/metric-summary.ts';
import { SystemSampler } from '../../../../shared/runner/telemetry/system-sampler.ts';

test('the samples of a later attempt go on from the earlier ones, where rules read them and where they are stored', async () => {
  const sampled: MetricPoint[] = [];
  const stored: MetricPoint[] = [];
  let isAway = true;
  const sampler = new SystemSampler({
    size: { vcpus: 1, memory: 1024, gpus: 0 },
    folder: tmpdir(),
    isAlone: false,
    seconds: 0.5,
    sink: { append: async (_, points) => void stored.push(...points) },
    async firstStep() {
      // The table is away at the first sample.
      if (!isAway) return 7;
      isAway = false;
      throw new Error('away');
    },
    onSample: (points) => void sampled.push(...points),
    now: () => new Date(),
    isWatched: async () => true,
  });

  for (let taken = 0; stepsOf(sampled).length < 3; taken += 1) {
    sampler.take({ pids: [], bytes: 1, peakBytes: 1, cpuSeconds: taken / 10 });
    await setTimeout(5);
  }
  await sampler.close();

  expect(stepsOf(sampled)).toEqual([7, 8, 9]);
  expect(stored).toEqual(sampled);
});

test('rules read each sample also when only each sixth is stored', async () => {
  const sampled: MetricPoint[] = [];
  const stored: MetricPoint[] = [];
  const sampler = new SystemSampler({
    size: { vcpus: 1, memory: 1024, gpus: 0 },
    folder: tmpdir(),
    isAlone: false,
    seconds: 0.5,
    denseSamples: 3,
    sink: { append: async (_, points) => void stored.push(...points) },
    onSample: (points) => void sampled.push(...points),
    now: () => new Date(),
    isWatched: async () => true,
  });
  for (let taken = 0; stepsOf(sampled).length < 8; taken += 1) {
    sampler.take({ pids: [], bytes: 1, peakBytes: 1, cpuSeconds: taken / 10 });
    await setTimeout(5);
  }
  await sampler.close();

  expect(stepsOf(sampled)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  expect(stepsOf(stored)).toEqual([0, 1, 2, 6]);
});

test.each([
  { what: 'a full machine gave it less than its size', idle: 0, vcpus: 0.5, contended: 1 },
  { what: 'a machine had idle processors', idle: 50, vcpus: 0.5, contended: 0 },
  { what: 'the command itself filled the machine', idle: 0, vcpus: 2, contended: 0 },
  { what: 'it waited for something else', idle: 0, vcpus: 0.01, contended: 0 },
])('the use of a command says that $what', async ({ idle, vcpus, contended }) => {
  let read = 0;
  const sampler = new SystemSampler({
    size: { vcpus: 2, memory: 1024, gpus: 0 },
    folder: tmpdir(),
    isAlone: false,
    sink: { append: async () => {} },
    now: () => new Date(),
    isWatched: async () => true,
    processors() {
      read += 1;
      return { count: 2, idle: idle * read, all: 100 * read };
    },
  });

  const clock = vi.spyOn(performance, 'now').mockReturnValue(0);
  sampler.take({ pids: [], bytes: 1, peakBytes: 1, cpuSeconds: 0 });
  clock.mockReturnValue(1000);
  sampler.take({ pids: [], bytes: 1, peakBytes: 1, cpuSeconds: vcpus });
  clock.mockRestore();

  expect(await sampler.close()).toMatchObject({ contended });
});

function stepsOf(points: readonly MetricPoint[]): (number | null)[] {
  return points.filter(({ name }) => name === 'system/cpu_utilization_percentage').map(({ step }) => step);
}
