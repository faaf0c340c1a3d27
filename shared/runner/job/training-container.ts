import * as z from 'zod';
import { Ulid } from '../../core/formats.ts';
import type { ContainerIdentity } from '../../jobs/acquire-lease.ts';
import { type BatchContainer, batchContainer, containerVariables } from './batch-container.ts';

/** The container of one node of a training, or of the build of its environment. */
export interface TrainingContainer
  extends Pick<
    BatchContainer,
    'marker' | 'workFolder' | 'hostSandbox' | 'firstUid' | 'stopGrace' | 'heartbeat'
  > {
  project_id: string;
  experiment_id: string;
  identity: ContainerIdentity;
  nodes: number;
  /** Address of node 0. Batch gives node 0 itself no address, so there it is the loopback address. */
  mainAddress: string;
  environmentsFolder: string;
  /** Image of this container, if it is another image that the deployment trusts. */
  trustedImage?: string | undefined;
  /** Whether the bucket keeps downloads of packages and packed environments, because there are other hosts. */
  keepsDownloads: boolean;
  /** Maximum bytes of the host's environments, wheels and downloads; undefined for the default. */
  cacheBytes?: number | undefined;
  /** Key of the job's copy of its project's variables; undefined if the project has none. */
  variablesKey?: Uint8Array | undefined;
}

const Variables = z.object({
  ...containerVariables,
  PROJECT_ID: Ulid,
  EXPERIMENT_ID: Ulid,
  PHASE: z.enum(['build', 'run']),
  ENVIRONMENTS_DIR: z.string().min(1),
  TRUSTED_IMAGE: z.string().optional(),
  DOWNLOADS_IN_BUCKET: z.enum(['yes', 'no']).default('no'),
  CACHE_BYTES: z.coerce.number().int().positive().optional(),
  VARIABLES_KEY: z.string().optional(),
  AWS_BATCH_JOB_NUM_NODES: z.coerce.number().int().positive().default(1),
  AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS: z.string().optional(),
});

/** Parse the variables that Batch and the submission set. @throws ZodError naming every bad variable */
export function readTrainingContainer(
  variables: Readonly<Record<string, string | undefined>>,
): TrainingContainer {
  const value = Variables.parse(variables);
  const { batch_job_id, batch_attempt, former_attempts, node, ...common } = batchContainer(value);
  return {
    ...common,
    project_id: value.PROJECT_ID,
    experiment_id: value.EXPERIMENT_ID,
    identity: { batch_job_id, batch_attempt, former_attempts, node, isBuild: value.PHASE === 'build' },
    nodes: value.AWS_BATCH_JOB_NUM_NODES,
    mainAddress: value.AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS ?? '127.0.0.1',
    environmentsFolder: value.ENVIRONMENTS_DIR,
    trustedImage: value.TRUSTED_IMAGE,
    keepsDownloads: value.DOWNLOADS_IN_BUCKET === 'yes',
    cacheBytes: value.CACHE_BYTES,
    variablesKey:
      value.VARIABLES_KEY === undefined ? undefined : Buffer.from(value.VARIABLES_KEY, 'base64url'),
  };
}
