import {
  type EndedAttempt,
  hasEnded,
  isActive,
  isRetried,
  type JobRecord,
  type JobStatus,
  type Node,
} from './job-record.ts';

/** End an attempt. Its main node decides the job's next state: success, another attempt, or final failure. */
export function attemptEnded(job: JobRecord, now: number): JobRecord {
  const [main] = job.nodes;
  const last = main.attempts.at(-1);
  if (hasEnded(job) || last === undefined) return job;
  if (job.ending !== undefined) return failed(job, job.ending, now);
  const reason = { statusReason: last.statusReason };
  if (main.status === 'SUCCEEDED') return { ...job, ...reason, status: 'SUCCEEDED' };
  if (isRetried(job.retryStrategy, main.attempts.length, last)) {
    const [first = main, ...children] = job.nodes.map(fresh);
    return moved({ ...job, ...reason, nodes: [first, ...children] }, 'RUNNABLE');
  }
  return { ...job, ...reason, status: 'FAILED' };
}

/** Fail the job for good, and with it the nodes that have not ended. */
export function failed(job: JobRecord, statusReason: string, now: number): JobRecord {
  const end = (node: Node): Node =>
    hasEnded(node) ? node : { ...node, status: 'FAILED', statusReason, stoppedAt: now };
  const [main, ...children] = job.nodes;
  return { ...job, status: 'FAILED', statusReason, nodes: [end(main), ...children.map(end)] };
}

/** Reset a node to wait for its next attempt. */
function fresh(node: Node): Node {
  const { container, attempts } = node;
  return { container, status: 'RUNNABLE', attempts };
}

/** Set the same state for the job and all its nodes. */
function moved(job: JobRecord, status: JobStatus): JobRecord {
  const [main, ...children] = job.nodes;
  const move = (node: Node): Node => ({ ...node, status });
  return { ...job, status, nodes: [move(main), ...children.map(move)] };
}

/** How the process of a container ended. */
export type Exit = Omit<EndedAttempt, 'startedAt' | 'stoppedAt' | 'logStreamName'>;

/** Status reason of AWS Batch for every container that exited by itself, with any exit code. */
export const exitedByItself = 'Essential container in task exited';

/**
 * Move a submitted job on. A job with dependencies is PENDING until they are settled; otherwise it is RUNNABLE.
 */
export function admitted(job: JobRecord): JobRecord {
  if (job.status !== 'SUBMITTED') return job;
  return job.dependsOn.length > 0 ? moved(job, 'PENDING') : moved(job, 'RUNNABLE');
}

/**
 * Update a PENDING job by the states of its dependencies. A failed dependency fails it at once. A cancelled job
 * waits until its dependencies have ended, as on AWS. An unknown dependency ended long ago.
 */
export function settled(
  job: JobRecord,
  statusOf: (id: string) => JobStatus | undefined,
  now: number,
): JobRecord {
  if (job.status !== 'PENDING') return job;
  const statuses = job.dependsOn.map(statusOf);
  if (statuses.includes('FAILED')) return failed(job, job.ending ?? 'Dependent Job failed', now);
  if (statuses.some((status) => status !== undefined && status !== 'SUCCEEDED')) return job;
  return job.ending === undefined ? moved(job, 'RUNNABLE') : failed(job, job.ending, now);
}

/** Apply CancelJob, or TerminateJob with `terminate`. Leave the end of a running job to its attempt. */
export function cancelled(job: JobRecord, reason: string, terminate: boolean, now: number): JobRecord {
  const active = isActive(job);
  if (hasEnded(job) || (active && !terminate)) return job;
  const asked = {
    ...job,
    cancelled: job.cancelled || !active,
    terminated: job.terminated || terminate,
    ending: job.ending ?? reason,
  };
  return active || job.status === 'PENDING' ? asked : failed(asked, asked.ending, now);
}

/** Begin an attempt of a RUNNABLE job. */
export function starting(job: JobRecord): JobRecord {
  const [main, ...children] = job.nodes.map(fresh);
  if (job.status !== 'RUNNABLE' || main === undefined) return job;
  const nodes: JobRecord['nodes'] = [{ ...main, status: 'STARTING' }, ...children];
  return { ...withoutReason(job), status: 'STARTING', nodes };
}

function withoutReason(job: JobRecord): JobRecord {
  const { statusReason: _, ...rest } = job;
  return rest;
}

/** Mark a node as running. A job runs when its main node runs. */
export function nodeStarted(job: JobRecord, index: number, run: Partial<Node>, now: number): JobRecord {
  const next = withNode(job, index, (node) => ({ ...node, ...run, status: 'RUNNING', startedAt: now }));
  return index === 0 ? { ...next, status: 'RUNNING' } : next;
}

function withNode(job: JobRecord, index: number, change: (node: Node) => Node): JobRecord {
  const [main, ...children] = job.nodes;
  if (index === 0) return { ...job, nodes: [change(main), ...children] };
  return { ...job, nodes: [main, ...children.map((node, at) => (at === index - 1 ? change(node) : node))] };
}

/** Mark a node as ended, or as failed to start. The job itself goes on. */
export function nodeEnded(job: JobRecord, index: number, exit: Exit, now: number): JobRecord {
  return withNode(job, index, (node) => {
    if (hasEnded(node)) return node;
    const { process: _, ...rest } = node;
    const { startedAt, logStreamName } = node;
    const statusReason = (index === 0 ? job.ending : undefined) ?? exit.statusReason;
    const attempt = { startedAt, logStreamName, ...exit, statusReason, stoppedAt: now };
    const status = exit.exitCode === 0 ? 'SUCCEEDED' : 'FAILED';
    return { ...rest, status, statusReason, stoppedAt: now, attempts: [...node.attempts, attempt] };
  });
}
