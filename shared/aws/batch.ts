import {
  type BatchClient,
  CancelJobCommand,
  DescribeJobsCommand,
  type EvaluateOnExit,
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
  /** Batch's reason why a job waits or failed. */
  reason: string | undefined;
  /** Whether somebody ended it. Absent if Batch did not say. */
  isTerminated?: boolean | undefined;
  /** Whether somebody cancelled it before it started. Absent if Batch did not say. */
  isCancelled?: boolean | undefined;
  /** Time of its submission, in epoch milliseconds. Absent if Batch did not say. */
  createdAt?: number | undefined;
  /** Number of attempts that Batch makes at most. Absent if it did not say. */
  maxAttempts?: number | undefined;
  /** Number of the current or last attempt, from 1. */
  attempt: number;
  exitCode: number | undefined;
  /** Completed attempts. */
  attempts: {
    exitCode: number | undefined;
    reason: string | undefined;
    startedAt: number | undefined;
    stoppedAt: number | undefined;
  }[];
}

/** A job to submit. Sizes are per node. */
export interface Submission {
  name: string;
  queue: string;
  definition: string;
  environment: Readonly<Record<string, string>>;
  vcpus: number;
  /** MiB. */
  memory: number;
  gpus: number;
  /** Nodes of a multi-node job; undefined for a single container. */
  nodes?: number | undefined;
  /** Seconds after which Batch terminates an attempt. */
  timeout: number;
  /** Attempts and their rules, instead of those of the definition. */
  retry?: Retry | undefined;
  /** Share identifier of the job's owner, for a fair-share queue; undefined for a first-in-first-out queue. */
  share?: string | undefined;
  /** Ids of jobs that must succeed before this one starts. */
  dependsOn?: readonly string[];
}

interface Retry {
  attempts: number;
  evaluateOnExit: readonly EvaluateOnExit[];
}

/** Client with the Batch actions Describe and List. */
export interface BatchObserver {
  /**
   * Return the jobs of these ids that Batch still lists. Takes any number of ids, and sends a hundred per call.
   */
  describe(ids: readonly string[]): Promise<BatchJob[]>;
  /** Return the id of a job of this name in the queue, in any status. */
  findByName(queue: string, name: string): Promise<string | undefined>;
}

/** Client with the Batch actions Describe, List, Submit, Cancel and Terminate. */
export interface BatchControl extends BatchObserver {
  submit(submission: Submission): Promise<string>;
  /** Cancel a job that has not started, or terminate a running one. Does nothing if the job has ended. */
  terminate(id: string, reason: string): Promise<void>;
  /** Cancel a job that has not started. Does nothing to one that starts, runs or has ended. */
  cancel(id: string, reason: string): Promise<void>;
}

const maxDescribe = 100;

interface Ending {
  exitCode?: number | undefined;
  reason?: string | undefined;
}

/** Fields that this module reads from `DescribeJobs` and from the state-change event. */
interface JobNews {
  jobId: string | undefined;
  jobName: string | undefined;
  status: BatchStatus | undefined;
  statusReason?: string | undefined;
  container?: Ending | undefined;
  isTerminated?: boolean | undefined;
  isCancelled?: boolean | undefined;
  createdAt?: number | undefined;
  retryStrategy?: { attempts?: number | undefined } | undefined;
  attempts?:
    | readonly {
        container?: Ending | undefined;
        startedAt?: number | undefined;
        stoppedAt?: number | undefined;
        statusReason?: string | undefined;
      }[]
    | undefined;
}

/** Combine the reasons that Batch and the container's host give, for example for a failed start. */
function reasonOf(statusReason: string | undefined, container: Ending | undefined): string | undefined {
  const reasons = [statusReason, container?.reason].filter((one) => one !== undefined && one !== '');
  return reasons.length === 0 ? undefined : [...new Set(reasons)].join(': ');
}

/** Convert a job from `DescribeJobs` or the state-change event. */
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
    isTerminated: detail.isTerminated,
    isCancelled: detail.isCancelled,
    createdAt: detail.createdAt,
    maxAttempts: detail.retryStrategy?.attempts,
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

/** Key of the tag that names the deployment, on its resources and jobs. */
export const deploymentTag = 'service';

/** @param deployment tags what it submits, so that IAM lets it terminate these jobs alone */
export function batchControl(client: BatchClient, deployment = 'local'): BatchControl {
  return {
    ...batchObserver(client),

    async submit(submission) {
      const { jobId } = await client.send(
        new SubmitJobCommand({
          jobName: submission.name,
          jobQueue: submission.queue,
          jobDefinition: submission.definition,
          timeout: { attemptDurationSeconds: submission.timeout },
          ...(submission.retry !== undefined && {
            retryStrategy: { ...submission.retry, evaluateOnExit: [...submission.retry.evaluateOnExit] },
          }),
          ...(submission.share !== undefined && { shareIdentifier: submission.share }),
          ...(submission.dependsOn !== undefined && {
            dependsOn: submission.dependsOn.map((id) => ({ jobId: id })),
          }),
          tags: { [deploymentTag]: deployment },
          ...overrides(submission),
        }),
      );
      if (jobId === undefined) throw new Error('Batch answered a submission without a job id');
      return jobId;
    },

    async terminate(id, reason) {
      try {
        await client.send(new TerminateJobCommand({ jobId: id, reason }));
      } catch (error) {
        // A job that a release without tags submitted. Its supervisor reads the request in the record.
        if (!(error instanceof Error && error.name === 'AccessDeniedException')) throw error;
      }
    },

    async cancel(jobId, reason) {
      await client.send(new CancelJobCommand({ jobId, reason }));
    },
  };
}
