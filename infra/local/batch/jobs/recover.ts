import { killTree, type ProcessSelector, processStartTime } from '../../../../shared/process/process-tree.ts';
import { attemptEnded, nodeEnded } from './job-life.ts';
import { markerName } from './job-process.ts';
import { hasEnded, isActive, type JobRecord } from './job-record.ts';
import type { JobStore } from './job-store.ts';
import { nodeId } from './process-variables.ts';

const restartedReason = 'Host EC2 (local) terminated: the local Batch server was restarted.';

/**
 * Ends what a server that died left running: its processes are killed, and the attempt counts as lost with its
 * host, unless its main node's end had been recorded.
 */
export async function endAbandonedAttempts(store: JobStore): Promise<void> {
  for (const job of [...store.all()].filter(isActive)) {
    for (const [index] of job.nodes.entries()) await killNode(job, index);
    await store.change(job.id, (present) => {
      const now = Date.now();
      const lost = present.nodes
        .map((node, index) => ({ node, index }))
        .filter(({ node, index }) => !hasEnded(node) && (index === 0 || isActive(node)))
        .reduce((next, { index }) => nodeEnded(next, index, { statusReason: restartedReason }, now), present);
      return attemptEnded(lost, now);
    });
  }
}

async function killNode(job: JobRecord, index: number): Promise<void> {
  const run = job.nodes[index]?.process;
  const marker = { name: markerName, value: nodeId(job, index) };
  // The pid may be reused; its group and session are safe to use only while it is not.
  const same = run?.startTime != null && (await processStartTime(run.pid)) === run.startTime;
  const selector: ProcessSelector = same
    ? { root: run.pid, group: run.pid, session: run.pid, marker }
    : { marker };
  try {
    await killTree(selector);
  } catch (error) {
    console.error(`Batch: processes of ${marker.value} remain: ${error}`);
  }
}
