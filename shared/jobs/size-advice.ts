import type { Prices } from '../core/prices.ts';
import type { SystemUse } from '../data/experiments/system-use.ts';
import { hourlyCost, minSeconds, roundedDollars } from './cost.ts';
import { fargateSizes, offeredMemory } from './fargate-sizes.ts';

/** Seconds that a command must have run, so that its use says something. */
const minUseSeconds = 30;

/** Memory that the same run gets beyond its peak: a quarter, and what a supervisor needs that is not counted. */
const memoryFactor = 1.25;
const moreMebibytes = 128;

/** How much longer than now a run may take with the advised size. */
const longestFactor = 1.1;

/** Share of the price that must be saved, so that a change is worth it. */
const leastSaving = 0.1;

/** Share of a GPU, in percent of its time or memory, up to which it is not used. Idle ones hold some memory. */
const idlePercent = 5;

/** Share of the time in which other work may have kept a run from its vCPUs, so that fewer may still be advised. */
const maxContended = 0.2;

const isContended = ({ contended = 0, seconds }: SystemUse): boolean =>
  contended > maxContended && seconds >= minUseSeconds;

/** A smaller size that would have been enough for a run. */
export interface SizeAdvice {
  vcpus: number;
  /** MiB. */
  memory: number;
  gpus: number;
  /** US dollars that the run would have cost; null if compute has no price. */
  cost: number | null;
  /** US dollars that it cost by the same prices. */
  present_cost: number | null;
}

interface EndedJob {
  kind: string;
  status: string;
  vcpus: number;
  memory: number;
  gpus: number;
  nodes: number;
  timeout: number;
  /** Seconds from start to end, with the preparation. */
  duration: number | null;
}

/**
 * Return the cheapest size that the service offers and that leaves a margin; null if the present one is right, or too
 * little is known. A failed run has not shown its peak, only node 0 of a cluster is sampled, and a run that used its
 * GPUs keeps its node, because a cheaper one may have other GPUs.
 */
export function sizeAdvice(
  job: EndedJob,
  use: SystemUse | undefined,
  prices: Prices | undefined,
): SizeAdvice | null {
  if (use === undefined || job.kind !== 'train' || job.nodes !== 1 || job.status !== 'SUCCEEDED') return null;
  if (use.seconds < minUseSeconds || (job.gpus > 0 && !hasIdleGpus(job, use))) return null;
  const before = Math.max(0, (job.duration ?? use.seconds) - use.seconds);
  const needed = Math.ceil(use.memory.peak * memoryFactor + moreMebibytes);
  const isWithGpus = job.gpus > 0;
  const priceOf = (size: { vcpus: number; memory: number; gpus: number }, seconds: number) => {
    if (prices === undefined) return size.gpus > 0 ? null : relativePrice(size) * seconds;
    const hourly = hourlyCost(prices, { ...size, nodes: 1, isOnNodes: size.gpus > 0 });
    return hourly === null ? null : (hourly * Math.max(minSeconds, before + seconds)) / 3600;
  };
  const present = priceOf(job, use.seconds);
  const found = fargateSizes
    .flatMap(({ vcpus }) => {
      const seconds = use.seconds_with[String(vcpus)] ?? use.seconds;
      const memory = offeredMemory(needed, vcpus);
      const isLong = seconds > use.seconds * longestFactor || seconds > job.timeout;
      const isMore = !isWithGpus && (vcpus > job.vcpus || (memory ?? 0) > job.memory);
      // Other work decided how many it used: nothing tells how many it needs.
      const isUnknown = isContended(use) && vcpus !== job.vcpus;
      if (memory === undefined || isLong || isMore || isUnknown) return [];
      const cost = priceOf({ vcpus, memory, gpus: 0 }, seconds);
      return cost === null ? [] : [{ vcpus, memory, gpus: 0, cost }];
    })
    .toSorted((a, b) => a.cost - b.cost);
  const [best] = found;
  if (best === undefined || (present !== null && best.cost > present * (1 - leastSaving))) return null;
  const isPriced = prices !== undefined && present !== null;
  return {
    ...best,
    cost: prices === undefined ? null : roundedDollars(best.cost),
    present_cost: isPriced ? roundedDollars(present) : null,
  };
}

/** Whether the run had GPUs, and used none of them. */
const hasIdleGpus = ({ gpus }: EndedJob, use: SystemUse): boolean =>
  use.gpus.length >= gpus &&
  use.gpus.every(
    (gpu) =>
      gpu.use.peak <= idlePercent &&
      gpu.memory > 0 &&
      (100 * gpu.memory_used.peak) / gpu.memory <= idlePercent,
  );

/** Order of sizes where nothing has a price: a vCPU costs about as much as nine GiB, as on Fargate. */
const relativePrice = ({ vcpus, memory }: { vcpus: number; memory: number }): number =>
  vcpus + memory / 1024 / 9;

/** Return the use of a run in a sentence, and the advice in another. */
export function useText(
  { vcpus, memory }: { vcpus: number; memory: number },
  use: SystemUse,
  advice: SizeAdvice | null,
): string {
  const percent = Math.round((100 * use.cpu.mean) / vcpus);
  const gpus = use.gpus.map(
    (gpu) =>
      ` GPU ${gpu.index} (${gpu.name}): ${Math.round(gpu.use.mean)} % of the time, ${gibibytes(gpu.memory_used.peak)} of ${gibibytes(gpu.memory)} GiB.`,
  );
  const peak = `Peak ${gibibytes(use.memory.peak)} of ${gibibytes(memory)} GiB, ${percent} % of ${counted(vcpus)}.`;
  const unknown = ` Other work of the machine kept it from its vCPUs for ${Math.round(100 * (use.contended ?? 0))} % of the time, so how many it needs cannot be told.`;
  const more = [
    ...(isContended(use) ? [unknown] : []),
    ...(advice === null ? [] : [` ${adviceText(advice)}`]),
  ];
  return [peak, ...gpus, ...more].join('');
}

function adviceText({ vcpus, memory, cost, present_cost }: SizeAdvice): string {
  const size = `${gibibytes(memory)} GiB and ${counted(vcpus)}`;
  return cost === null || present_cost === null
    ? `${size} would have been enough.`
    : `With ${size} this run would have cost US$ ${dollars(cost)} instead of ${dollars(present_cost)}.`;
}

const gibibytes = (mebibytes: number): string => String(Number((mebibytes / 1024).toPrecision(2)));

const counted = (vcpus: number): string => `${vcpus} ${vcpus === 1 ? 'vCPU' : 'vCPUs'}`;

/** Cents, or two digits of less than ten cents. */
const dollars = (amount: number): string =>
  amount >= 0.1 ? amount.toFixed(2) : String(Number(amount.toPrecision(2)));
