import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { computePrices } from '../../../infra/aws/cost/price-list.ts';
import type { SystemUse } from '../../../shared/data/experiments/system-use.ts';
import { metricChunk } from '../../../shared/data/metrics/job-metrics.ts';
import { type SizeAdvice, sizeAdvice } from '../../../shared/jobs/size-advice.ts';
import type { TreeListing } from '../../../shared/process/memory-watch.ts';
import { type Outcome, supervise } from '../../../shared/process/supervise.ts';
import { SystemSampler } from '../../../shared/runner/telemetry/system-sampler.ts';
import { programs } from './programs.ts';

/*
 * What the sampler of a job costs, and what its advice is worth. Twenty programs run under supervision with 4 vCPUs and
 * 8 GiB, and again with the memory that each was advised. vCPUs are not enforced on one machine, so the price of the
 * second runs counts the seconds that the advice predicts.
 */
const { values: flags } = parseArgs({
  options: { seconds: { type: 'string', default: '34' }, help: { type: 'boolean', default: false } },
});
if (flags.help) {
  console.log('Usage: npm run proof -- machine [--seconds 34]');
  process.exit(0);
}

const mebibyte = 2 ** 20;
const size = { vcpus: 4, memory: 8192, gpus: 0 };
const prices = computePrices({ clusterInstanceTypes: [], gpuInstanceTypes: [], jobDiskGiB: 20 });
const folder = await mkdtemp(join(tmpdir(), 'mps-machine-'));
try {
  const cost = await samplerCost();
  const worth = await adviceWorth();
  process.exitCode = cost && worth ? 0 : 1;
} finally {
  await rm(folder, { recursive: true, force: true });
}

/** Measure an hour of sampling in a few seconds: 3,600 listings and 360 intervals, with their points packed. */
async function samplerCost(): Promise<boolean> {
  const listings: TreeListing[] = [];
  const stop = new AbortController();
  const running = supervise({
    ...launch(
      `import os, time\nheld = bytearray(200 << 20)\nfor at in range(0, len(held), 4096): held[at] = 1\nfor _ in range(3): os.fork() or time.sleep(600)\ntime.sleep(600)`,
    ),
    stop: stop.signal,
    graceSeconds: 0,
    onListing: (listing) => listings.push(listing),
  });
  await sleep(4_000);
  const listing = listings.at(-1);
  if (listing === undefined) throw new Error('no listing came');
  const often = samplerOf(0.51);
  const rarely = samplerOf(3_600);
  globalThis.gc?.();
  const [before, rss] = [process.cpuUsage(), process.memoryUsage().rss];
  for (let taken = 0; taken <= 360; taken += 1) {
    often.take(listing);
    await sleep(15);
  }
  const waiting = process.cpuUsage(before);
  for (let taken = 0; taken < 3_240; taken += 1) rarely.take(listing);
  await often.close();
  await rarely.close();
  const { user, system } = process.cpuUsage(before);
  const share = (user + system) / 1e6 / 3_600;
  const more = (process.memoryUsage().rss - rss) / mebibyte;
  stop.abort();
  await running;
  console.log(
    `An hour of sampling ${listing.pids.length} processes: ${((user + system) / 1e6).toFixed(2)} s of a processor (${((waiting.user + waiting.system) / 1e6).toFixed(2)} s for 360 intervals), ${(100 * share).toFixed(3)} % of a core; ${more.toFixed(1)} MiB more memory.`,
  );
  return share <= 0.005 && more <= 20;
}

async function adviceWorth(): Promise<boolean> {
  const first = await Promise.all(programs(Number(flags.seconds)).map((one) => run(one, size.memory)));
  const again = await Promise.all(
    programs(Number(flags.seconds)).map((one, index) =>
      run(one, first[index]?.advice?.memory ?? size.memory),
    ),
  );
  let [present, advised, lacks] = [0, 0, 0];
  for (const [index, { name }] of programs(0).entries()) {
    const [one, other] = [first[index], again[index]];
    if (one?.use === undefined) throw new Error(`${name} was not sampled`);
    const { use, advice } = one;
    const hour = prices.fargate.base + 4 * prices.fargate.vcpu + 8 * prices.fargate.gib;
    const paid = (hour * Math.max(60, use.seconds)) / 3_600;
    present += paid;
    advised += advice?.cost ?? paid;
    const isWhole = other?.outcome.cause === 'exited' && other.outcome.exitCode === 0;
    if (!isWhole) lacks += 1;
    const to = advice === null ? 'keeps its size' : `${advice.vcpus} vCPU, ${advice.memory} MiB`;
    console.log(
      `${name.padEnd(34)} peak ${String(use.memory.peak).padStart(5)} MiB, ${use.cpu.mean.toFixed(2)} vCPU: ${to}; again: ${isWhole ? 'whole' : other?.outcome.cause}`,
    );
  }
  const saved = 1 - advised / present;
  console.log(
    `${first.length} programs: US$ ${present.toFixed(4)}, as advised ${advised.toFixed(4)}: ${(100 * saved).toFixed(0)} % less; ${lacks} lacked memory.`,
  );
  return lacks === 0 && saved >= 0.4;
}

interface Ran {
  outcome: Outcome;
  use: SystemUse | undefined;
  advice: SizeAdvice | null;
}

async function run({ script }: { script: string }, memory: number): Promise<Ran> {
  const sampler = samplerOf(10);
  const outcome = await supervise({
    ...launch(script),
    stop: new AbortController().signal,
    memoryBytes: memory * mebibyte,
    onListing: (listing) => sampler.take(listing),
  });
  const use = await sampler.close();
  const job = { ...size, kind: 'train', status: 'SUCCEEDED', nodes: 1, timeout: 3_600 };
  return { outcome, use, advice: sizeAdvice({ ...job, duration: use?.seconds ?? null }, use, prices) };
}

function samplerOf(seconds: number): SystemSampler {
  return new SystemSampler({
    size,
    folder,
    isAlone: false,
    seconds,
    sink: { append: async (sequence, points) => void metricChunk('proof', 1, sequence, points) },
    now: () => new Date(),
    isWatched: async () => false,
  });
}

function launch(script: string) {
  return {
    argv: ['python3', '-c', script],
    cwd: folder,
    env: { PATH: '/usr/bin:/bin' },
    marker: { name: 'MACHINE_PROOF', value: crypto.randomUUID() },
    onOutput: () => undefined,
  };
}
