import type { Prices } from '../../core/prices.ts';
import { type NodeDemand, smallestNode } from './node-size.ts';

/** The size of a job; per node. */
export interface PricedJob extends NodeDemand {
  memory: number;
  /** Whether it runs on EC2 nodes; otherwise on Fargate. */
  isOnNodes: boolean;
  nodes: number;
}

/** Seconds that AWS charges at least. */
const minSeconds = 60;

/** To millionths of a dollar. */
const rounded = (amount: number): number => Math.round(amount * 1e6) / 1e6;

/** US dollars an hour of all nodes together; null where no node is large enough, or none has a price. */
export function hourlyCost({ fargate, nodes }: Prices, job: PricedJob): number | null {
  if (!job.isOnNodes) return fargate.base + job.vcpus * fargate.vcpu + (job.memory / 1024) * fargate.gib;
  const node = smallestNode(nodes, job);
  return node === undefined ? null : node.price * job.nodes;
}

/** US dollars for an attempt that takes all its time (`timeout`, in seconds); null where there is no price. */
export function costEstimate(
  prices: Prices | undefined,
  job: PricedJob & { timeout: number },
): number | null {
  const hourly = prices === undefined ? null : hourlyCost(prices, job);
  return hourly === null ? null : rounded((hourly * Math.max(job.timeout, minSeconds)) / 3600);
}

interface Span {
  started_at: string | null;
  stopped_at: string | null;
}

function paidSeconds({ started_at, stopped_at }: Span): number {
  if (started_at === null || stopped_at === null) return 0;
  return Math.max(minSeconds, (Date.parse(stopped_at) - Date.parse(started_at)) / 1000);
}

/**
 * US dollars that a job has cost, all attempts together, at the price of when it was created; null before its end, and
 * where there was no price.
 */
export function actualCost(
  job: Span & { cost_estimate: number | null; timeout: number; attempts: readonly Span[] },
): number | null {
  if (job.cost_estimate === null || job.stopped_at === null) return null;
  // Batch reports the last attempt later than the job itself does, or never.
  const reported = job.attempts.reduce((sum, attempt) => sum + paidSeconds(attempt), 0);
  const seconds = Math.max(reported, paidSeconds(job));
  return rounded((job.cost_estimate * seconds) / Math.max(job.timeout, minSeconds));
}
