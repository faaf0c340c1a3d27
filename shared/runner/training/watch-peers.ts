import { performance } from 'node:perf_hooks';
import { listLeases } from '../../data/jobs/lease.ts';
import type { TrainingJob } from '../job/training-job.ts';
import { PeerHealth } from './peer-health.ts';

/**
 * Stop node 0 of a cluster when another node has failed, was lost or does not start, instead of waiting for its
 * timeout: AWS Batch ends a job with node 0 alone.
 * @returns a function that ends the watch
 */
export function watchPeers({ record, container, records, stop, log }: TrainingJob): () => void {
  const { nodes, identity, heartbeat } = container;
  if (nodes < 2) return () => {};
  const { batch_job_id, batch_attempt } = identity;
  const health = new PeerHealth({ nodes, batch_job_id, batch_attempt, heartbeat });
  const check = async (): Promise<void> => {
    try {
      const leases = await listLeases(records, record.experiment_id);
      const message = health.check(leases, performance.now() / 1000);
      if (message !== undefined) stop.because({ kind: 'peer', message });
    } catch (error) {
      health.missLook();
      log.warn('peers-not-seen', { error: error instanceof Error ? error.name : '' });
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
