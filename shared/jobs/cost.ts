import type { Capacity, CapacityType, CostEstimates } from '../core/capacity/capacity.ts';
import type { Prices } from '../core/prices.ts';

/**
 * Return the US dollars for an attempt that reaches its `timeout` in seconds, where the job may run at the highest price.
 * Return null if no price is known.
 */
export function costEstimate(
  prices: Prices | undefined,
  job: PricedJob & { timeout: number; capacity?: Capacity | undefined },
): number | null {
  const hourly = prices === undefined ? null : hourlyCost(prices, job, job.capacity === 'spot');
  return hourly === null ? null : roundedDollars((hourly * Math.max(job.timeout, minSeconds)) / 3600);
}

/** Return the estimates on Spot and on demand. Return undefined if no price is known. */
export function costEstimates(
  prices: Prices | undefined,
  job: PricedJob & { timeout: number },
): CostEstimates | undefined {
  const spot = costEstimate(prices, { ...job, capacity: 'spot' });
  const onDemand = costEstimate(prices, { ...job, capacity: 'on-demand' });
  return spot === null || onDemand === null ? undefined : { spot, 'on-demand': onDemand };
}

/** Size of a job, per node. */
interface PricedJob extends NodeDemand {
  memory: number;
  /** Whether it runs on EC2 nodes; otherwise on Fargate. */
  isOnNodes: boolean;
  nodes: number;
}

/** Size that a job needs on each node. */
interface NodeDemand {
  vcpus: number;
  gpus: number;
  /** MiB. If absent, any memory is enough. */
  memory?: number | undefined;
}

/** Return the US dollars per hour of all nodes together. Return null if no node with a price is large enough. */
export function hourlyCost({ fargate, nodes, spot }: Prices, job: PricedJob, isSpot = false): number | null {
  const share = (of: 'fargate' | 'nodes') => (isSpot ? (spot?.[of] ?? 1) : 1);
  if (!job.isOnNodes)
    return fargate.base + share('fargate') * (job.vcpus * fargate.vcpu + (job.memory / 1024) * fargate.gib);
  const node = smallestNode(nodes, job);
  return node === undefined ? null : share('nodes') * node.price * job.nodes;
}

/** Return the cheapest node that is large enough. Return undefined if none is. */
export function smallestNode(nodes: readonly Node[], job: NodeDemand): Node | undefined {
  const { vcpus, gpus, memory = 0 } = job;
  const large = nodes.filter(
    (node) => node.vcpus >= vcpus && node.gpus >= gpus && usableMemory(node) >= memory,
  );
  return large.toSorted((a, b) => a.price - b.price)[0];
}

type Node = Prices['nodes'][number];

/** Return the MiB of a node that a job can use. */
export const usableMemory = ({ memory }: Pick<Node, 'memory'>): number =>
  Math.floor(memory * (1 - systemShare));

/** Share of a node's memory reserved for the kernel and the ECS agent. AWS advises to subtract 5 percent. */
const systemShare = 0.06;

/** Round to millionths of a dollar. */
export const roundedDollars = (amount: number): number => Math.round(amount * 1e6) / 1e6;

/** Return the US dollars of a minute, rounded up to millionths. Every attempt is paid for at least one. */
export const minuteCost = ({ cost_estimate, timeout }: { cost_estimate: number; timeout: number }): number =>
  Math.ceil(roundedDollars(cost_estimate) * 1e6 * (minSeconds / Math.max(timeout, minSeconds)) - 1e-6) / 1e6;

/** Minimum seconds that AWS charges. */
export const minSeconds = 60;

/**
 * Return the US dollars that all attempts of a job have cost, at the prices of its creation. The time between two
 * attempts costs nothing. Return null before its end, or if no price was known.
 */
export const actualCost = (job: PaidJob): number | null =>
  costBy(job, (type) => (type === undefined ? undefined : job.estimates?.[type]) ?? job.cost_estimate);

/** Return the US dollars that the same seconds would have cost on demand. Return null as {@link actualCost} does. */
export const onDemandCost = (job: PaidJob): number | null =>
  costBy(job, () => job.estimates?.['on-demand'] ?? job.cost_estimate);

/** A job with its attempts. */
export interface PaidJob extends Span {
  cost_estimate: number | null;
  timeout: number;
  /** Attempts that Batch has reported. It reports the last one later than the job itself, or never. */
  attempts: readonly PaidAttempt[];
  /** Number of the last attempt, from 1. Undefined in rows of releases that did not store it. */
  batch_attempt: number | undefined;
  attempt_started_at?: string | undefined;
  /** Capacity of the last attempt. Undefined in a job that is always on demand. */
  capacity_type?: CapacityType | undefined;
  /** Estimates by capacity. Undefined in such a job. */
  estimates?: CostEstimates | undefined;
}

interface PaidAttempt extends Span {
  capacity_type?: CapacityType | undefined;
}

/** Return the US dollars of one attempt of a job. Return null if no price was known. */
export const attemptCost = (job: PaidJob, attempt: PaidAttempt): number | null =>
  actualCost({
    ...job,
    ...attempt,
    attempts: [attempt],
    batch_attempt: 1,
    attempt_started_at: attempt.started_at ?? undefined,
  });

function costBy(job: PaidJob, estimateOf: (type: CapacityType | undefined) => number | null): number | null {
  if (job.cost_estimate === null || job.stopped_at === null) return null;
  const seconds = new Map<CapacityType | undefined, number>();
  for (const [type, more] of [...job.attempts.map(paid), unreported(job)])
    seconds.set(type, (seconds.get(type) ?? 0) + more);
  const paidFor = Math.max(job.timeout, minSeconds);
  const parts = [...seconds].map(([type, sum]) => ((estimateOf(type) ?? 0) * sum) / paidFor);
  return roundedDollars(parts.reduce((sum, part) => sum + part, 0));
}

type Paid = readonly [CapacityType | undefined, seconds: number];

const paid = (attempt: PaidAttempt): Paid => [attempt.capacity_type, paidSeconds(attempt)];

/** Return the seconds of the attempts that Batch has not reported. */
function unreported(job: PaidJob): Paid {
  const { attempts, batch_attempt, attempt_started_at, stopped_at, capacity_type } = job;
  const missing = (batch_attempt ?? 0) - attempts.length;
  // Without the start of an attempt the whole time counts: more than it was, never less.
  if (attempt_started_at === undefined || missing > 1) {
    const reported = attempts.reduce((sum, attempt) => sum + paidSeconds(attempt), 0);
    return [capacity_type, Math.max(0, paidSeconds(job) - reported)];
  }
  return [capacity_type, missing < 1 ? 0 : paidSeconds({ started_at: attempt_started_at, stopped_at })];
}

interface Span {
  started_at: string | null;
  stopped_at: string | null;
}

function paidSeconds({ started_at, stopped_at }: Span): number {
  if (started_at === null || stopped_at === null) return 0;
  return Math.max(minSeconds, (Date.parse(stopped_at) - Date.parse(started_at)) / 1000);
}

/** Why no budget can be kept where compute has no price. */
export const noPriceMessage =
  'cannot be kept: compute has no price in this deployment; on one machine, LOCAL_PRICE=0.05 before npm start sets US dollars for a vCPU-hour';
