import { performance } from 'node:perf_hooks';
import { errorName } from '../../core/error-text.ts';
import { heartbeatsMissed, type Lease, listLeases } from '../../data/jobs/lease.ts';
import type { TrainingJob } from '../job/training-job.ts';

/**
 * Stop node 0 of a cluster when another node has failed, was lost or does not start. Otherwise it would wait for
 * its timeout, because AWS Batch ends a job only with node 0.
 * @returns a function that ends the watch
 */
export function watchPeers({ record, container, records, stop, log }: TrainingJob): () => void {
  const { nodes, identity, heartbeat } = container;
  if (nodes < 2) return () => {};
  const { batch_job_id, batch_attempt } = identity;
  const health = new PeerHealth({ nodes, batch_job_id, batch_attempt, heartbeat });
  const check = async (): Promise<void> => {
    try {
      health.noteLook(performance.now() / 1000);
      const leases = await listLeases(records, record.experiment_id);
      const message = health.check(leases, performance.now() / 1000);
      if (message !== undefined) stop.because({ kind: 'peer', message });
    } catch (error) {
      health.missLook();
      log.warn('peers-not-seen', { error: errorName(error) });
    }
  };
  let isLooking = false;
  const timer = setInterval(() => {
    if (isLooking) return;
    isLooking = true;
    void check().finally(() => {
      isLooking = false;
    });
  }, heartbeat * 1000);
  return () => clearInterval(timer);
}

interface Cluster {
  nodes: number;
  /** The Batch job and attempt of the nodes. Other leases belong to an earlier run. */
  batch_job_id: string;
  batch_attempt: number;
  /** Seconds between two heartbeats. */
  heartbeat: number;
}

/** The last heartbeat of a node that node 0 saw, with the time of its first sight. */
interface Sight {
  /** Changes with every heartbeat. */
  sign: string;
  /** Seconds of a monotonic clock. */
  since: number;
}

/** Heartbeats that a busy machine may miss without having slept. */
const maxHeartbeatsAsleep = 3;

/** Heartbeats for which node 0 waits for a node to start: 15 minutes, which allows for an image pull. */
const heartbeatsToStart = 60;

/**
 * Checks through their leases whether the other nodes of a cluster are alive. Uses only the time between two
 * reads, never another node's clock.
 */
export class PeerHealth {
  readonly #cluster: Cluster;
  readonly #sights = new Map<number, Sight>();
  readonly #failing = new Set<number>();
  #lookedAt = Number.POSITIVE_INFINITY;

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  /** Forget all heartbeats after a failed read: the other nodes may have been unable to write them. */
  missLook(): void {
    this.#sights.clear();
  }

  /**
   * Forget all heartbeats if this node itself has not looked for several of them: then the machine slept, and the
   * other nodes may have slept with it.
   *
   * @param now seconds of a monotonic clock
   */
  noteLook(now: number): void {
    if (now - this.#lookedAt > this.#cluster.heartbeat * maxHeartbeatsAsleep) this.missLook();
    this.#lookedAt = now;
  }

  /**
   * Return the reason why the job cannot continue, with the node; undefined if it can. Reports a failed node at
   * the second read, because until then node 0 may end with a better reason.
   *
   * @param now seconds of a monotonic clock
   */
  check(leases: ReadonlyMap<number, Lease>, now: number): string | undefined {
    for (let node = 1; node < this.#cluster.nodes; node += 1) {
      const verdict = this.#verdictOn(node, this.#leaseOf(leases.get(node)), now);
      if (verdict !== undefined) return verdict;
    }
    return undefined;
  }

  /** Return the lease of a node if it belongs to this run. */
  #leaseOf(lease: Lease | undefined): Lease | undefined {
    const { batch_job_id, batch_attempt } = this.#cluster;
    return lease?.batch_job_id === batch_job_id && lease.batch_attempt === batch_attempt ? lease : undefined;
  }

  #verdictOn(node: number, lease: Lease | undefined, now: number): string | undefined {
    if (lease?.end !== undefined) return this.#judgeEnd(node, lease.end.failure);
    const silence = this.#silenceOf(node, lease, now);
    const { heartbeat } = this.#cluster;
    const patience = heartbeat * (lease === undefined ? heartbeatsToStart : heartbeatsMissed);
    if (silence <= patience) return undefined;
    return lease === undefined
      ? `Node ${node} did not start within ${patience} s.`
      : `Node ${node} was lost: no heartbeat for ${patience} s.`;
  }

  #judgeEnd(node: number, failure: string | null): string | undefined {
    if (failure === null) return undefined;
    if (this.#failing.has(node)) return `Node ${node} failed: ${failure}`;
    this.#failing.add(node);
    return undefined;
  }

  /** Seconds since a node's last heartbeat. */
  #silenceOf(node: number, lease: Lease | undefined, now: number): number {
    const sign = lease === undefined ? '' : `${lease.holder} ${lease.heartbeat_at}`;
    const seen = this.#sights.get(node);
    if (seen?.sign === sign) return now - seen.since;
    this.#sights.set(node, { sign, since: now });
    return 0;
  }
}
