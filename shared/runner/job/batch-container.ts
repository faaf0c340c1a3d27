import * as z from 'zod';
import { usualHeartbeatSeconds } from '../../data/jobs/lease.ts';

const Paths = z.array(z.string().startsWith('/'));

const HostSandbox = z.object({
  /** Files and folders that jobs never see. */
  hidden: Paths,
  /** Files and folders that do not exist for jobs. */
  absent: Paths.default([]),
  /** Paths that jobs can read, also below a hidden folder or `/tmp`. */
  readable: Paths,
  /** Paths that jobs can also write to, with their user's permissions. */
  writable: Paths.default([]),
});
export type HostSandbox = z.output<typeof HostSandbox>;

/** A container of AWS Batch, as its environment variables describe it. */
export interface BatchContainer {
  batch_job_id: string;
  /** Number of the attempt, from 1, over all submissions of the job. */
  batch_attempt: number;
  /** Attempts of earlier submissions; undefined in the first one. */
  former_attempts: number | undefined;
  node: number;
  /** Variable that every process of the container inherits; it identifies them. */
  marker: { name: string; value: string };
  workFolder: string;
  hostSandbox: HostSandbox;
  firstUid: number;
  /** Seconds. */
  stopGrace: number;
  /** Seconds between two heartbeats. */
  heartbeat: number;
}

const whole = z.coerce.number().int();

/** Environment variables of all job containers. */
export const containerVariables = {
  WORK_DIR: z.string().min(1),
  /** First of the user ids for jobs if this process is root. */
  JOB_UID: whole.positive().default(61_000),
  /** Seconds between SIGTERM and SIGKILL of a command; Batch itself kills the container 30 s after its SIGTERM. */
  STOP_GRACE_SECONDS: whole.nonnegative().default(20),
  /** JSON of {@link HostSandbox}. A host that runs only one job hides nothing. */
  SANDBOX: z
    .string()
    .default('{"hidden":[],"readable":[]}')
    .transform((text) => HostSandbox.parse(JSON.parse(text))),
  /** Seconds between two heartbeats. */
  HEARTBEAT_SECONDS: z.coerce.number().positive().max(usualHeartbeatSeconds).default(usualHeartbeatSeconds),
  FORMER_ATTEMPTS: whole.nonnegative().optional(),
  AWS_BATCH_JOB_ID: z.string().min(1),
  AWS_BATCH_JOB_ATTEMPT: whole.positive().default(1),
  AWS_BATCH_JOB_NODE_INDEX: whole.nonnegative().default(0),
};

const Variables = z.object(containerVariables);

/** Build the container's description from its validated variables. */
export function batchContainer(value: z.output<typeof Variables>): BatchContainer {
  // Batch names a node of a multi-node job `<job id>#<node>`.
  const [batch_job_id = ''] = value.AWS_BATCH_JOB_ID.split('#');
  return {
    batch_job_id,
    batch_attempt: (value.FORMER_ATTEMPTS ?? 0) + value.AWS_BATCH_JOB_ATTEMPT,
    former_attempts: value.FORMER_ATTEMPTS,
    node: value.AWS_BATCH_JOB_NODE_INDEX,
    marker: { name: 'AWS_BATCH_JOB_ID', value: value.AWS_BATCH_JOB_ID },
    workFolder: value.WORK_DIR,
    hostSandbox: value.SANDBOX,
    firstUid: value.JOB_UID,
    stopGrace: value.STOP_GRACE_SECONDS,
    heartbeat: value.HEARTBEAT_SECONDS,
  };
}
