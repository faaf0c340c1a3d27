import type { Prices } from '../core/prices.ts';

/**
 * Return the US dollars for an attempt that reaches its `timeout` in seconds. Return null if no price is known.
 */
export function costEstimate(
  prices: Prices | undefined,
  job: PricedJob & { timeout: number },
): number | null {
  const hourly = prices === undefined ? null : hourlyCost(prices, job);
  return hourly === null ? null : roundedDollars((hourly * Math.max(job.timeout, minSeconds)) / 3600);
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
export function hourlyCost({ fargate, nodes }: Prices, job: PricedJob): number | null {
  if (!job.isOnNodes) return fargate.base + job.vcpus * fargate.vcpu + (job.memory / 1024) * fargate.gib;
  const node = smallestNode(nodes, job);
  return node === undefined ? null : node.price * job.nodes;
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
 * Return the US dollars that all attempts of a job have cost, at the price of its creation. The time between two
 * attempts costs nothing. Return null before its end, or if no price was known.
 */
export function actualCost(job: PaidJob & { cost_estimate: number | null; timeout: number }): number | null {
  if (job.cost_estimate === null || job.stopped_at === null) return null;
  return roundedDollars((job.cost_estimate * secondsOf(job)) / Math.max(job.timeout, minSeconds));
}

interface PaidJob extends Span {
  /** Attempts that Batch has reported. It reports the last one later than the job itself, or never. */
  attempts: readonly Span[];
  /** Number of the last attempt, from 1. Undefined in rows of releases that did not store it. */
  batch_attempt: number | undefined;
  attempt_started_at?: string | undefined;
}

/** Return the seconds that all attempts of a job are paid for. */
function secondsOf(job: PaidJob): number {
  const { attempts, batch_attempt, attempt_started_at, stopped_at } = job;
  const reported = attempts.reduce((sum, attempt) => sum + paidSeconds(attempt), 0);
  const unreported = (batch_attempt ?? 0) - attempts.length;
  // Without the start of an attempt the whole time counts: more than it was, never less.
  if (attempt_started_at === undefined || unreported > 1) return Math.max(reported, paidSeconds(job));
  return unreported < 1 ? reported : reported + paidSeconds({ started_at: attempt_started_at, stopped_at });
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
