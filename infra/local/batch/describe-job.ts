import type { ContainerDetail, JobDetail, JobSummary } from '@aws-sdk/client-batch';
import { type Catalogue, localAccount } from './catalogue.ts';
import {
  type BatchJobStateChangeEvent,
  type Container,
  hasEnded,
  type JobRecord,
  type Node,
} from './jobs/job-record.ts';

/** Describe a job as DescribeJobs does. */
export function describeJob(job: JobRecord, surroundings: Surroundings): JobDetail {
  const [main] = job.nodes;
  return {
    ...described(job, main, surroundings),
    ...statusOf(job, job, surroundings),
    ...(job.multinode ? { nodeProperties: nodePropertiesOf(job) } : { container: containerOf(job, main) }),
  };
}

/** Facts that a description needs in addition to the job. */
export interface Surroundings {
  catalogue: Catalogue;
  /** Return why a runnable job waits, or undefined if it does not wait. */
  reasonToWait(job: JobRecord): string | undefined;
}

function described(job: JobRecord, node: Node, { catalogue }: Surroundings): Omit<JobDetail, 'status'> {
  const { evaluateOnExit = [], attempts } = job.retryStrategy;
  return {
    jobArn: catalogue.arn('job', job.id),
    jobName: job.name,
    jobId: job.id,
    jobQueue: catalogue.arn('job-queue', job.queue),
    ...(job.share !== undefined && { shareIdentifier: job.share }),
    jobDefinition: catalogue.arn('job-definition', job.definition),
    attempts: node.attempts.map(({ exitCode, reason, logStreamName, ...attempt }) => ({
      ...attempt,
      container: present({ exitCode, reason, logStreamName }),
    })),
    createdAt: job.createdAt,
    retryStrategy: { attempts, evaluateOnExit },
    dependsOn: job.dependsOn.map((jobId) => ({ jobId })),
    parameters: job.parameters,
    ...(job.timeoutSeconds !== undefined && { timeout: { attemptDurationSeconds: job.timeoutSeconds } }),
    tags: job.tags,
    propagateTags: false,
    platformCapabilities: job.platform === undefined ? (job.multinode ? ['EC2'] : []) : [job.platform],
    startedAt: node.startedAt,
    ...present({ stoppedAt: node.stoppedAt }),
    isCancelled: job.cancelled,
    isTerminated: job.terminated,
  };
}

/** Drop members that are undefined. */
function present<T extends object>(members: T): { [Name in keyof T]?: Exclude<T[Name], undefined> } {
  const kept: { [Name in keyof T]?: Exclude<T[Name], undefined> } = {};
  for (const name in members) {
    const value = members[name];
    if (value !== undefined) Object.assign(kept, { [name]: value });
  }
  return kept;
}

function statusOf(
  job: JobRecord,
  { status, statusReason }: Pick<Node, 'status' | 'statusReason'>,
  { reasonToWait }: Surroundings,
): Pick<JobDetail, 'status' | 'statusReason'> {
  const reason = (status === 'RUNNABLE' ? reasonToWait(job) : undefined) ?? statusReason;
  return { status, ...present({ statusReason: reason }) };
}

function nodePropertiesOf(job: JobRecord) {
  const nodes = job.nodes.map(({ container }, index) => ({ container, index }));
  const first = ({ container }: Node, index: number) =>
    index === 0 || job.nodes[index - 1]?.container !== container;
  const starts = nodes.filter((_, index) => first(job.nodes[index] ?? job.nodes[0], index));
  return {
    numNodes: job.nodes.length,
    mainNode: 0,
    nodeRangeProperties: starts.map(({ container, index }, position) => {
      const end = (starts[position + 1]?.index ?? nodes.length) - 1;
      const properties = job.containers[container];
      return {
        targetNodes: `${index}:${end}`,
        ...(properties && { container: containerProperties(properties) }),
      };
    }),
  };
}

function containerProperties({ command, environment, vcpus, memory, gpus }: Container) {
  return {
    image: 'local',
    command: [...command],
    environment: [...environment],
    vcpus: Math.ceil(vcpus),
    memory: Math.ceil(memory),
    resourceRequirements: [
      { type: 'VCPU' as const, value: String(vcpus) },
      { type: 'MEMORY' as const, value: String(memory) },
      ...(gpus > 0 ? [{ type: 'GPU' as const, value: String(gpus) }] : []),
    ],
    volumes: [],
    mountPoints: [],
    ulimits: [],
    secrets: [],
  };
}

function containerOf(job: JobRecord, node: Node): ContainerDetail {
  const container = job.containers[node.container] ?? job.containers[0];
  const last = hasEnded(node) ? node.attempts.at(-1) : undefined;
  return {
    ...(container && containerProperties(container)),
    ...present({
      exitCode: last?.exitCode,
      reason: last?.reason,
      logStreamName: node.logStreamName ?? node.attempts.at(-1)?.logStreamName,
    }),
    networkInterfaces: [],
  };
}

/** Describe one node of a multi-node job, as DescribeJobs does for the id `<job id>#<index>`. */
export function describeNode(
  job: JobRecord,
  index: number,
  surroundings: Surroundings,
): JobDetail | undefined {
  const node = job.nodes[index];
  if (!job.multinode || node === undefined) return undefined;
  return {
    ...described(job, node, surroundings),
    ...statusOf(job, node, surroundings),
    jobId: `${job.id}#${index}`,
    jobArn: `${surroundings.catalogue.arn('job', job.id)}#${index}`,
    container: containerOf(job, node),
    nodeDetails: { nodeIndex: index, isMainNode: index === 0 },
  };
}

/** Summarize a job, or with `index` one of its nodes, as ListJobs does. */
export function summarizeJob(job: JobRecord, surroundings: Surroundings, index?: number): JobSummary {
  const isNode = index !== undefined;
  const detail = isNode ? describeNode(job, index, surroundings) : undefined;
  const {
    jobArn,
    jobId,
    jobName,
    status,
    statusReason,
    createdAt,
    startedAt,
    stoppedAt,
    jobDefinition,
    ...rest
  } = detail ?? describeJob(job, surroundings);
  const last = (job.nodes[index ?? 0] ?? job.nodes[0]).attempts.at(-1);
  return {
    ...{ jobArn, jobId, jobName, status, createdAt, jobDefinition },
    ...present({
      statusReason,
      startedAt,
      stoppedAt,
      isCancelled: rest.isCancelled,
      isTerminated: rest.isTerminated,
    }),
    ...(hasEnded(job) && { container: present({ exitCode: last?.exitCode, reason: last?.reason }) }),
    ...(job.multinode && {
      nodeProperties: isNode ? { isMainNode: index === 0, nodeIndex: index } : { numNodes: job.nodes.length },
    }),
  };
}

/** Return the EventBridge event for the job's new state. */
export function stateChangeEvent(
  job: JobRecord,
  id: string,
  time: Date,
  surroundings: Surroundings,
): BatchJobStateChangeEvent {
  return {
    version: '0',
    id,
    'detail-type': 'Batch Job State Change',
    source: 'aws.batch',
    account: localAccount,
    time: time.toISOString().replace(/\.\d+Z$/, 'Z'),
    region: surroundings.catalogue.region,
    resources: [surroundings.catalogue.arn('job', job.id)],
    detail: describeJob(job, surroundings),
  };
}
