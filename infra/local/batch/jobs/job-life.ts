import {
  type EndedAttempt,
  hasEnded,
  isActive,
  isRetried,
  type JobRecord,
  type JobStatus,
  type Node,
} from './job-record.ts';

/** An attempt is over, and its main node decides: success, another attempt, or failure for good. */
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

/** The job fails for good; nodes that did not run fail with it. */
export function failed(job: JobRecord, statusReason: string, now: number): JobRecord {
  const end = (node: Node): Node =>
    hasEnded(node) ? node : { ...node, status: 'FAILED', statusReason, stoppedAt: now };
  const [main, ...children] = job.nodes;
  return { ...job, status: 'FAILED', statusReason, nodes: [end(main), ...children.map(end)] };
}

/** A node as it waits for its next attempt. */
function fresh(node: Node): Node {
  const { container, attempts } = node;
  return { container, status: 'RUNNABLE', attempts };
}

/** A state that the job and all its nodes have in common. */
function moved(job: JobRecord, status: JobStatus): JobRecord {
  const [main, ...children] = job.nodes;
  const move = (node: Node): Node => ({ ...node, status });
  return { ...job, status, nodes: [move(main), ...children.map(move)] };
}

/** How a process that stands for a container ended. */
export type Exit = Omit<EndedAttempt, 'startedAt' | 'stoppedAt' | 'logStreamName'>;

/** Status reason of AWS Batch for every container that ended by itself, with any exit code. */
export const exitedByItself = 'Essential container in task exited';

/** After the submission: what has dependencies is PENDING until they are settled. */
export function admitted(job: JobRecord): JobRecord {
  if (job.status !== 'SUBMITTED') return job;
  return job.dependsOn.length > 0 ? moved(job, 'PENDING') : moved(job, 'RUNNABLE');
}

/**
 * A PENDING job in view of the jobs it depends on. A failed one fails it at once; a cancelled job waits, as it
 * does on AWS, until its dependencies have ended. One that is not known any more ended long ago.
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

/** CancelJob and, with `terminate`, TerminateJob: what runs already is left to its attempt to end. */
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

/** An attempt of a RUNNABLE job begins. */
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

/** The process of a node runs. Once the main node does, the job does. */
export function nodeStarted(job: JobRecord, index: number, run: Partial<Node>, now: number): JobRecord {
  const next = withNode(job, index, (node) => ({ ...node, ...run, status: 'RUNNING', startedAt: now }));
  return index === 0 ? { ...next, status: 'RUNNING' } : next;
}

function withNode(job: JobRecord, index: number, change: (node: Node) => Node): JobRecord {
  const [main, ...children] = job.nodes;
  if (index === 0) return { ...job, nodes: [change(main), ...children] };
  return { ...job, nodes: [main, ...children.map((node, at) => (at === index - 1 ? change(node) : node))] };
}

/** The process of a node ended, or could not be started. The job itself goes on. */
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
