import { expect, test } from 'vitest';
import type { SystemUse } from '../../../shared/data/experiments/system-use.ts';
import { isFargateSize } from '../../../shared/jobs/fargate-sizes.ts';
import { sizeAdvice, useText } from '../../../shared/jobs/size-advice.ts';

const prices = {
  fargate: { base: 0, vcpu: 0.04, gib: 0.004 },
  nodes: [{ vcpus: 4, memory: 16_384, gpus: 1, price: 0.5 }],
};
const job = {
  kind: 'train',
  status: 'SUCCEEDED',
  vcpus: 4,
  memory: 8192,
  gpus: 0,
  nodes: 1,
  timeout: 7200,
  duration: 3600,
};

/** Use of a run of an hour that keeps this many vCPUs busy. */
const use = (vcpus: number, mebibytes: number, seconds = 3600): SystemUse => ({
  seconds,
  cpu: { mean: vcpus, peak: vcpus },
  memory: { mean: mebibytes, peak: mebibytes },
  network: null,
  gpus: [],
  seconds_with: Object.fromEntries(
    [0.25, 0.5, 1, 2, 4, 8, 16].map((offered) => [String(offered), seconds * Math.max(1, vcpus / offered)]),
  ),
});

test('a run is advised the cheapest size that leaves it a quarter of its memory and its time', () => {
  const used = use(0.48, 1350);
  const advice = sizeAdvice(job, used, prices);

  expect(advice).toEqual({ vcpus: 0.5, memory: 2048, gpus: 0, cost: 0.028, present_cost: 0.192 });
  expect(useText(job, used, advice)).toBe(
    'Peak 1.3 of 8 GiB, 12 % of 4 vCPUs. With 2 GiB and 0.5 vCPUs this run would have cost US$ 0.028 instead of 0.19.',
  );
});

test('memory decides the vCPUs where fewer offer too little of it', () => {
  expect(sizeAdvice(job, use(0.1, 3300), prices)).toMatchObject({ vcpus: 1, memory: 5120 });
});

test('a run that would take longer keeps its vCPUs', () => {
  expect(sizeAdvice(job, use(3.9, 1000), prices)).toBeNull();
  expect(sizeAdvice({ ...job, memory: 16_384 }, use(3.9, 1000), prices)).toMatchObject({
    vcpus: 4,
    memory: 8192,
  });
});

test('a run that other work kept from its vCPUs keeps their number, and is told why', () => {
  const used = { ...use(0.2, 200), contended: 0.6 };
  const advice = sizeAdvice({ ...job, memory: 16_384 }, used, undefined);

  expect(advice).toMatchObject({ vcpus: 4, memory: 8192 });
  expect(useText(job, used, null)).toMatch(
    /kept it from its vCPUs for 60 % of the time, so how many it needs cannot be told\.$/,
  );
});

test('without prices the advice has none', () => {
  const used = use(0.2, 200);
  const advice = sizeAdvice(job, used, undefined);

  expect(advice).toEqual({ vcpus: 0.25, memory: 512, gpus: 0, cost: null, present_cost: null });
  expect(useText(job, used, advice)).toMatch(/0\.5 GiB and 0\.25 vCPUs would have been enough\.$/);
});

test.each([
  ['is short', {}, use(0.1, 100, 20)],
  ['failed', { status: 'FAILED' }, use(0.1, 100)],
  ['ran on a cluster', { kind: 'train-remote', nodes: 2 }, use(0.1, 100)],
  ['used its GPU', { gpus: 1 }, { ...use(0.1, 100), gpus: [gpu(80)] }],
  ['had a GPU that nothing tells about', { gpus: 1 }, use(0.1, 100)],
  ['was not sampled', {}, undefined],
])('a run that %s gets no advice', (_, change, used) => {
  expect(sizeAdvice({ ...job, ...change }, used, prices)).toBeNull();
});

test('a run that left its GPU idle is advised to do without', () => {
  const used = { ...use(0.9, 1000), gpus: [gpu(0)] };
  const advice = sizeAdvice({ ...job, gpus: 1 }, used, prices);

  expect(advice).toMatchObject({ gpus: 0, vcpus: 1, memory: 2048, present_cost: 0.5 });
  expect(useText(job, used, advice)).toContain('GPU 0 (Tesla T4): 0 % of the time, 0.2 of 15 GiB.');
});

test('every advice is a size that the service offers, and no more than the run had', () => {
  for (let vcpus = 0.1; vcpus < 4; vcpus += 0.3)
    for (let memory = 50; memory < 8192; memory += 217) {
      const advice = sizeAdvice(job, use(vcpus, memory), prices);
      if (advice === null) continue;
      expect(isFargateSize(advice)).toBe(true);
      expect(advice.memory).toBeGreaterThan(memory * 1.25);
      expect([advice.vcpus <= 4, advice.memory <= 8192]).toEqual([true, true]);
    }
});

function gpu(percent: number): SystemUse['gpus'][number] {
  const use = { mean: percent, peak: percent };
  return {
    index: 0,
    name: 'Tesla T4',
    driver: '550.54',
    memory: 15_360,
    use,
    memory_used: { mean: 200, peak: 200 },
  };
}
