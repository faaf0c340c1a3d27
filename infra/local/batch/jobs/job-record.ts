import type { JobDetail } from '@aws-sdk/client-batch';
import * as z from 'zod';

export const JobStatus = z.enum([
  'SUBMITTED',
  'PENDING',
  'RUNNABLE',
  'STARTING',
  'RUNNING',
  'SUCCEEDED',
  'FAILED',
]);
export type JobStatus = z.infer<typeof JobStatus>;

const Environment = z.array(z.object({ name: z.string(), value: z.string() }));

const Container = z.object({
  command: z.array(z.string()).min(1),
  environment: Environment,
  /**
   * Command and environment of the submission. The rest comes from the current definition when an attempt starts.
   * Absent in jobs of earlier releases, which did not record it.
   */
  given: z.object({ command: z.array(z.string()), environment: Environment }).optional(),
  vcpus: z.number(),
  /** MiB. */
  memory: z.number(),
  gpus: z.number(),
  /** Length of the overrides as JSON, which ECS limits. */
  overridesLength: z.number(),
});
export type Container = z.infer<typeof Container>;

const EndedAttempt = z.object({
  startedAt: z.number().optional(),
  stoppedAt: z.number(),
  exitCode: z.number().optional(),
  reason: z.string().optional(),
  statusReason: z.string().optional(),
  logStreamName: z.string().optional(),
});
export type EndedAttempt = z.infer<typeof EndedAttempt>;

/**
 * One node of a multi-node job, or the only container of another job. Times are in milliseconds since the epoch.
 */
const Node = z.object({
  /** Index in the job's containers. */
  container: z.int(),
  status: JobStatus,
  statusReason: z.string().optional(),
  startedAt: z.number().optional(),
  stoppedAt: z.number().optional(),
  logStreamName: z.string().optional(),
  /** The running process and its start time, which distinguishes it from a later process with the same pid. */
  process: z.object({ pid: z.int(), startTime: z.string().nullable() }).optional(),
  attempts: z.array(EndedAttempt),
});
export type Node = z.infer<typeof Node>;

const isEvent = (value: unknown): boolean =>
  z.object({ id: z.string(), detail: z.object({ jobId: z.string(), status: JobStatus }) }).safeParse(value)
    .success;

const maxPattern = 512;

const textPattern = z
  .string()
  .max(maxPattern)
  .regex(
    /^[A-Za-z0-9.:\s]*\*?$/,
    'may hold letters, digits, periods, colons and white space, then one asterisk',
  );

const codePattern = z
  .string()
  .max(maxPattern)
  .regex(/^[0-9]*\*?$/, 'may hold digits, then one asterisk');

/** `retryStrategy` of SubmitJob and of a job definition, with the limits of AWS Batch. */
export const RetryStrategy = z.object({
  attempts: z.int().min(1).max(10),
  evaluateOnExit: z
    .array(
      z.object({
        // AWS Batch accepts the action in upper and lower case.
        action: z
          .string()
          .transform((action) => action.toUpperCase())
          .pipe(z.enum(['RETRY', 'EXIT'])),
        onStatusReason: textPattern.optional(),
        onReason: textPattern.optional(),
        onExitCode: codePattern.optional(),
      }),
    )
    .max(5)
    .optional(),
});
export type RetryStrategy = z.infer<typeof RetryStrategy>;

/** A job as stored in its file. */
export const JobRecord = z.object({
  version: z.literal(1),
  /** Increases with each job. */
  sequence: z.int(),
  id: z.uuid(),
  name: z.string(),
  queue: z.string(),
  definition: z.string(),
  /** Owner of the job; absent if the submission names none. */
  share: z.string().optional(),
  multinode: z.boolean(),
  platform: z.enum(['FARGATE', 'EC2']).optional(),
  status: JobStatus,
  statusReason: z.string().optional(),
  createdAt: z.number(),
  dependsOn: z.array(z.string()),
  retryStrategy: RetryStrategy,
  timeoutSeconds: z.number().optional(),
  tags: z.record(z.string(), z.string()),
  parameters: z.record(z.string(), z.string()),
  containers: z.array(Container).min(1),
  /** The first is the main node. */
  nodes: z.tuple([Node], Node),
  cancelled: z.boolean(),
  terminated: z.boolean(),
  /** Status reason of the final failure, once decided: cancelled, terminated, or timed out. */
  ending: z.string().optional(),
  /** Events not yet delivered. */
  events: z.array(z.custom<BatchJobStateChangeEvent>(isEvent)),
});
export type JobRecord = z.infer<typeof JobRecord>;

/** The event that AWS Batch sends to EventBridge when a job changes its state. */
export interface BatchJobStateChangeEvent {
  version: '0';
  id: string;
  'detail-type': 'Batch Job State Change';
  source: 'aws.batch';
  account: string;
  /** ISO 8601, whole seconds. */
  time: string;
  region: string;
  resources: string[];
  detail: JobDetail;
}

export const hasEnded = ({ status }: { status: JobStatus }): boolean =>
  status === 'SUCCEEDED' || status === 'FAILED';

export const isActive = ({ status }: { status: JobStatus }): boolean =>
  status === 'STARTING' || status === 'RUNNING';

/**
 * Whether a job is retried after its attempt number `attempt` (from 1) failed. There must be attempts left. The
 * first rule whose conditions all match decides. If no rule matches, AWS Batch retries.
 */
export function isRetried(strategy: RetryStrategy, attempt: number, failure: Failure): boolean {
  if (attempt >= strategy.attempts) return false;
  const exitCode = failure.exitCode?.toString();
  const decisive = strategy.evaluateOnExit?.find(
    (rule) =>
      matches(rule.onStatusReason, failure.statusReason) &&
      matches(rule.onReason, failure.reason) &&
      matches(rule.onExitCode, exitCode),
  );
  return decisive?.action !== 'EXIT';
}

/** How an attempt failed. An unknown value counts as empty, which only `*` matches. */
interface Failure {
  exitCode?: number | undefined;
  reason?: string | undefined;
  statusReason?: string | undefined;
}

function matches(pattern: string | undefined, value = ''): boolean {
  if (pattern === undefined) return true;
  return pattern.endsWith('*') ? value.startsWith(pattern.slice(0, -1)) : value === pattern;
}
