import * as z from 'zod';
import { Ulid } from '../endpoint/parameters.ts';
import type { ContainerIdentity } from '../jobs/acquire-lease.ts';

const whole = z.coerce.number().int();

const Variables = z.object({
  PROJECT_ID: Ulid,
  EXPERIMENT_ID: Ulid,
  PHASE: z.enum(['build', 'run']),
  WORK_DIR: z.string().min(1),
  ENVIRONMENTS_DIR: z.string().min(1),
  /** First of the user ids under which jobs run where this process is root. */
  JOB_UID: whole.positive().default(61_000),
  /** What a command gets between SIGTERM and SIGKILL; Batch itself kills the container 30 s after its SIGTERM. */
  STOP_GRACE_SECONDS: whole.nonnegative().default(20),
  AWS_BATCH_JOB_ID: z.string().min(1),
  AWS_BATCH_JOB_ATTEMPT: whole.positive().default(1),
  AWS_BATCH_JOB_NODE_INDEX: whole.nonnegative().default(0),
  AWS_BATCH_JOB_NUM_NODES: whole.positive().default(1),
  AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS: z.string().optional(),
});

/** What a container is told about its job. */
export interface JobEnvironment {
  project_id: string;
  experiment_id: string;
  container: ContainerIdentity;
  /** Variable by which everything that the container started is found: Batch looks for its own. */
  marker: { name: string; value: string };
  nodes: number;
  /** Address of node 0; the loopback address on node 0 itself, which Batch does not tell it. */
  mainAddress: string;
  workFolder: string;
  environmentsFolder: string;
  firstUid: number;
  /** Seconds. */
  stopGrace: number;
}

/** Reads what Batch and the submission put into the environment; throws naming every bad variable. */
export function readJobEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
): JobEnvironment {
  const value = Variables.parse(environment);
  // Batch names a node of a multi-node job `<job id>#<node>`.
  const [batch_job_id = ''] = value.AWS_BATCH_JOB_ID.split('#');
  return {
    project_id: value.PROJECT_ID,
    experiment_id: value.EXPERIMENT_ID,
    container: {
      batch_job_id,
      batch_attempt: value.AWS_BATCH_JOB_ATTEMPT,
      node: value.AWS_BATCH_JOB_NODE_INDEX,
      isBuild: value.PHASE === 'build',
    },
    marker: { name: 'AWS_BATCH_JOB_ID', value: value.AWS_BATCH_JOB_ID },
    nodes: value.AWS_BATCH_JOB_NUM_NODES,
    mainAddress: value.AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS ?? '127.0.0.1',
    workFolder: value.WORK_DIR,
    environmentsFolder: value.ENVIRONMENTS_DIR,
    firstUid: value.JOB_UID,
    stopGrace: value.STOP_GRACE_SECONDS,
  };
}
