import { errorName } from '../../core/error-text.ts';
import { heartbeat, loneBeats, usualHeartbeatSeconds } from '../../data/jobs/lease.ts';
import { ConditionFailedError } from '../../data/table/write-label.ts';
import { jobIdOf } from '../../jobs/job-record.ts';
import type { HeldJob } from './hold-job.ts';

/**
 * Write a heartbeat every few seconds in which nothing else has renewed the lease, and stop the job once its lease is lost.
 * While the table is unavailable the lease is not lost: the table alone decides.
 * @param heartbeatSeconds seconds between two heartbeats of a node of a cluster
 * @param onBeat called as often, whatever renews the lease
 * @returns a function that ends the heartbeats
 */
export function keepAlive(
  { record, node, lease, records, stop, heart, now, log }: HeldJob,
  heartbeatSeconds = usualHeartbeatSeconds,
  onBeat: () => unknown = () => {},
): () => void {
  const beat = async (): Promise<void> => {
    try {
      await records.write(heartbeat(jobIdOf(record), node, lease, now()));
      heart.beaten();
    } catch (error) {
      if (error instanceof ConditionFailedError) stop.because({ kind: 'superseded' });
      else log.warn('heartbeat', { error: errorName(error) });
    }
  };
  const seconds = record.nodes > 1 ? heartbeatSeconds : heartbeatSeconds * loneBeats;
  const milliseconds = seconds * 1000;
  let timer: NodeJS.Timeout;
  const plan = (pause: number): void => {
    timer = setTimeout(() => {
      const left = milliseconds - heart.age;
      // Not awaited: a write that hangs must not delay the next one.
      if (left <= 0) void beat();
      plan(left > 0 ? left : milliseconds);
    }, pause);
  };
  plan(milliseconds);
  const listener = setInterval(() => void onBeat(), milliseconds);
  return () => {
    clearTimeout(timer);
    clearInterval(listener);
  };
}
