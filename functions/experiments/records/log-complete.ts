import type { Experiment } from '../../../shared/data/experiments/experiment.ts';
import { isFinal } from '../../../shared/data/jobs/job-status.ts';

/** Whether the log of a node of an experiment gets no more lines. */
export function isLogComplete({ status, stopped_at }: Experiment, node: number, now: Date): boolean {
  if (!isFinal(status) || stopped_at === null) return false;
  return node === 0 || now.getTime() - Date.parse(stopped_at) > otherNodesSeconds * 1000;
}

/** Seconds that the other nodes of a cluster get to stop and ship their logs once node 0 has ended. */
const otherNodesSeconds = 60;
