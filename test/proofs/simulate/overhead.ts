import { prices } from '../../../infra/aws/cost/price-list.ts';
import { usualMemory } from '../../../infra/aws/options/function-size.ts';
import type { Billed } from './meter.ts';

/** What the service costs beside the compute of its jobs, by the price list, beyond all free allowances. */
export interface Overhead {
  /** US dollars of the jobs' vCPUs and memory on Fargate, on demand. */
  compute: number;
  /** US dollars of each kind, as a share of these. */
  shares: Readonly<Record<'writes' | 'reads' | 'functions' | 'requests', number>>;
  /** Their sum. */
  share: number;
}

/** Milliseconds of its share of a processor that a run takes, beside its waits, which alone pass in virtual time. */
const processorMilliseconds = 100;

/** Bytes of a run in the log of its function. */
const logBytes = 1000;

/** vCPUs and GiB of each job. */
export const jobSize = { vcpus: 1, gib: 2 };

/** @param seconds of all containers */
export function overheadOf(
  { reads, writes, requests, functions, milliseconds }: Billed,
  seconds: number,
): Overhead {
  const { vcpuHour, gibHour } = prices.fargate;
  const compute = (seconds / 3600) * (jobSize.vcpus * vcpuHour + jobSize.gib * gibHour);
  const time = (milliseconds + functions * processorMilliseconds) / 1000;
  const dollars = {
    writes: writes * prices.dynamoDb.writeUnit,
    reads: reads * prices.dynamoDb.readUnit,
    functions:
      functions * (prices.lambda.request + (logBytes / 1e9) * prices.logs.gbIngested) +
      time * (usualMemory / 1024) * prices.lambda.gibSecond,
    requests: requests * prices.api.request,
  };
  const shares = {
    writes: dollars.writes / compute,
    reads: dollars.reads / compute,
    functions: dollars.functions / compute,
    requests: dollars.requests / compute,
  };
  return { compute, shares, share: Object.values(shares).reduce((sum, one) => sum + one, 0) };
}
