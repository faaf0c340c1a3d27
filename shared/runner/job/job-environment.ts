import * as z from 'zod';
import { Ulid } from '../../core/formats.ts';
import type { ContainerIdentity } from '../../jobs/acquire-lease.ts';
import {
  type ContainerEnvironment,
  containerEnvironment,
  containerVariables,
} from './container-environment.ts';

const Variables = z.object({
  ...containerVariables,
  PROJECT_ID: Ulid,
  EXPERIMENT_ID: Ulid,
  PHASE: z.enum(['build', 'run']),
  ENVIRONMENTS_DIR: z.string().min(1),
  TRUSTED_IMAGE: z.string().optional(),
  AWS_BATCH_JOB_NUM_NODES: z.coerce.number().int().positive().default(1),
  AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS: z.string().optional(),
});

/** What a container is told about its training. */
export interface JobEnvironment
  extends Pick<
    ContainerEnvironment,
    'marker' | 'workFolder' | 'hostSandbox' | 'firstUid' | 'stopGrace' | 'heartbeat'
  > {
  project_id: string;
  experiment_id: string;
  container: ContainerIdentity;
  nodes: number;
  /** Address of node 0; the loopback address on node 0 itself, which Batch does not tell it. */
  mainAddress: string;
  environmentsFolder: string;
  /** The image that this container itself is of, where it is one that the deployment trusts besides its own. */
  trustedImage?: string | undefined;
}

/** Reads what Batch and the submission put into the environment; throws naming every bad variable. */
export function readJobEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
): JobEnvironment {
  const value = Variables.parse(environment);
  const { batch_job_id, batch_attempt, node, ...common } = containerEnvironment(value);
  return {
    ...common,
    project_id: value.PROJECT_ID,
    experiment_id: value.EXPERIMENT_ID,
    container: { batch_job_id, batch_attempt, node, isBuild: value.PHASE === 'build' },
    nodes: value.AWS_BATCH_JOB_NUM_NODES,
    mainAddress: value.AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS ?? '127.0.0.1',
    environmentsFolder: value.ENVIRONMENTS_DIR,
    trustedImage: value.TRUSTED_IMAGE,
  };
}
