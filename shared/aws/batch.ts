import {
  type BatchClient,
  DescribeJobsCommand,
  ListJobsCommand,
  SubmitJobCommand,
  type SubmitJobCommandInput,
  TerminateJobCommand,
} from '@aws-sdk/client-batch';

/** Status of a job in Batch. */
export type BatchStatus =
  | 'SUBMITTED'
  | 'PENDING'
  | 'RUNNABLE'
  | 'STARTING'
  | 'RUNNING'
  | 'SUCCEEDED'
  | 'FAILED';

export interface BatchJob {
  id: string;
  name: string;
  status: BatchStatus;
  /** Batch's own words: why a job waits or failed. */
  reason: string | undefined;
  /** Attempt that waits, runs or ran last, from 1. */
  attempt: number;
  exitCode: number | undefined;
  /** Attempts that have ended. */
  attempts: {
    exitCode: number | undefined;
    reason: string | undefined;
    startedAt: number | undefined;
    stoppedAt: number | undefined;
  }[];
}

/** A submission. Sizes are per node. */
export interface Submission {
  name: string;
  queue: string;
  definition: string;
  environment: Readonly<Record<string, string>>;
  vcpus: number;
  /** MiB. */
  memory: number;
  gpus: number;
  /** Nodes of a multi-node job; undefined for a job of one container. */
  nodes?: number | undefined;
  /** Seconds after which Batch itself ends an attempt. */
  timeout: number;
  /** Whose job it is, for a queue whose owners take turns; undefined for one that takes jobs as they come. */
  share?: string | undefined;
  /** Ids of jobs that must have succeeded first. */
  dependsOn?: readonly string[];
}

/** Describe and List. */
export interface BatchObserver {
  /** The jobs of these ids that Batch still has; any number of ids, in calls of a hundred. */
  describe(ids: readonly string[]): Promise<BatchJob[]>;
  /** Id of a job of this name in the queue, in any status. */
  findByName(queue: string, name: string): Promise<string | undefined>;
}

/** Describe, List, Submit and Terminate. */
export interface BatchControl extends BatchObserver {
  submit(submission: Submission): Promise<string>;
  /** Cancels a job that has not started, ends one that has. One that has ended already is no error. */
  terminate(id: string, reason: string): Promise<void>;
}

const maxDescribe = 100;

interface Ending {
  exitCode?: number | undefined;
  reason?: string | undefined;
}

/** The fields of a job in `DescribeJobs` and in the state-change event that are read. */
interface JobNews {
  jobId: string | undefined;
  jobName: string | undefined;
  status: BatchStatus | undefined;
  statusReason?: string | undefined;
  container?: Ending | undefined;
  attempts?:
    | readonly {
        container?: Ending | undefined;
        startedAt?: number | undefined;
        stoppedAt?: number | undefined;
        statusReason?: string | undefined;
      }[]
    | undefined;
}

/** The reasons of an end, by Batch and by the container's host, such as a failed start. */
function reasonOf(statusReason: string | undefined, container: Ending | undefined): string | undefined {
  const reasons = [statusReason, container?.reason].filter((one) => one !== undefined && one !== '');
  return reasons.length === 0 ? undefined : [...new Set(reasons)].join(': ');
}

/** A job from `DescribeJobs` or the state-change event. */
export function batchJob(detail: JobNews): BatchJob | undefined {
  const { jobId: id, jobName: name, status, attempts = [], container } = detail;
  if (id === undefined || name === undefined || status === undefined) return undefined;
  const ended = attempts.length;
  const over = status === 'SUCCEEDED' || status === 'FAILED';
  const last = attempts.at(-1);
  return {
    id,
    name,
    status,
    reason: reasonOf(detail.statusReason, over ? (container ?? last?.container) : container),
    attempt: over ? Math.max(ended, 1) : ended + 1,
    exitCode: container?.exitCode ?? last?.container?.exitCode,
    attempts: attempts.map((attempt) => ({
      exitCode: attempt.container?.exitCode,
      reason: reasonOf(attempt.statusReason, attempt.container),
      startedAt: attempt.startedAt,
      stoppedAt: attempt.stoppedAt,
    })),
  };
}

/** Observer of Batch. */
export function batchObserver(client: BatchClient): BatchObserver {
  return {
    async describe(ids) {
      const found: BatchJob[] = [];
      for (let start = 0; start < ids.length; start += maxDescribe) {
        const { jobs = [] } = await client.send(
          new DescribeJobsCommand({ jobs: ids.slice(start, start + maxDescribe) }),
        );
        found.push(...jobs.flatMap((detail) => batchJob(detail) ?? []));
      }
      return found;
    },

    async findByName(queue, name) {
      const { jobSummaryList = [] } = await client.send(
        new ListJobsCommand({ jobQueue: queue, filters: [{ name: 'JOB_NAME', values: [name] }] }),
      );
      return jobSummaryList[0]?.jobId;
    },
  };
}

function overrides(
  submission: Submission,
): Pick<SubmitJobCommandInput, 'containerOverrides' | 'nodeOverrides'> {
  const containerOverrides = {
    environment: Object.entries(submission.environment).map(([name, value]) => ({ name, value })),
    resourceRequirements: [
      { type: 'VCPU' as const, value: String(submission.vcpus) },
      { type: 'MEMORY' as const, value: String(submission.memory) },
      ...(submission.gpus > 0 ? [{ type: 'GPU' as const, value: String(submission.gpus) }] : []),
    ],
  };
  if (submission.nodes === undefined) return { containerOverrides };
  return {
    nodeOverrides: {
      numNodes: submission.nodes,
      nodePropertyOverrides: [{ targetNodes: '0:', containerOverrides }],
    },
  };
}

/** Control of Batch. */
export function batchControl(client: BatchClient): BatchControl {
  return {
    ...batchObserver(client),

    async submit(submission) {
      const { jobId } = await client.send(
        new SubmitJobCommand({
          jobName: submission.name,
          jobQueue: submission.queue,
          jobDefinition: submission.definition,
          timeout: { attemptDurationSeconds: submission.timeout },
          ...(submission.share !== undefined && { shareIdentifier: submission.share }),
          ...(submission.dependsOn !== undefined && {
            dependsOn: submission.dependsOn.map((id) => ({ jobId: id })),
          }),
          ...overrides(submission),
        }),
      );
      if (jobId === undefined) throw new Error('Batch answered a submission without a job id');
      return jobId;
    },

    async terminate(id, reason) {
      await client.send(new TerminateJobCommand({ jobId: id, reason }));
    },
  };
}
