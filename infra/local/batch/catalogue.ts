import { BatchClientError } from './batch-client-error.ts';
import { RetryStrategy } from './jobs/job-record.ts';

/** The existing queues and definitions, by name or ARN. */
export interface Catalogue {
  readonly region: string;
  /** @throws BatchClientError if there is none */
  queue(nameOrArn: string): LocalQueue;
  /** @throws BatchClientError if there is none */
  definition(nameOrArn: string): Definition;
  findDefinition(nameOrArn: string): Definition | undefined;
  /** Every local definition has one revision. */
  arn(kind: 'job' | 'job-queue' | 'job-definition', name: string): string;
}

export interface LocalQueue {
  name: string;
  /** Maximum number of running jobs; a multi-node job counts as one. */
  maxJobs: number;
  /** Platform of its compute environments; default both. */
  platform?: Platform;
  /** Sizes of its instance types; default any size. */
  instances?: readonly InstanceSize[];
  /** Whether it is of Spot: then each attempt loses its host after so many seconds. Default: it never does. */
  lossSeconds?: number;
  /** Seconds after which the queue gives up a job that fits no instance; default 600, as in a deployment. */
  misfitSeconds?: number;
}

export type Platform = 'FARGATE' | 'EC2';

/** Resources of a node. */
export interface InstanceSize {
  vcpus: number;
  /** MiB. */
  memory: number;
  gpus: number;
}

/** A job definition in the form of a job: `retryStrategy` replaces `attempts` and `evaluateOnExit`. */
export interface Definition extends Omit<LocalJobDefinition, 'attempts' | 'evaluateOnExit'> {
  retryStrategy: RetryStrategy;
}

/** A job definition with a command instead of a container image. */
export interface LocalJobDefinition {
  name: string;
  type: 'container' | 'multinode';
  command: readonly string[];
  environment: Readonly<Record<string, string>>;
  vcpus: number;
  /** MiB. */
  memory: number;
  /** Platform of its jobs, `platformCapabilities` on AWS; default that of the queue. */
  platform?: Platform;
  /** Default number of nodes of a multi-node job. */
  numNodes?: number;
  attempts: number;
  evaluateOnExit?: readonly {
    action: 'RETRY' | 'EXIT';
    onStatusReason?: string;
    onReason?: string;
    onExitCode?: string;
  }[];
  timeoutSeconds?: number;
}

/** The account id in every ARN of the local server. */
export const localAccount = '000000000000';

/** @throws ZodError if AWS Batch would refuse a definition's retry rules */
export function catalogueOf(
  region: string,
  queues: readonly LocalQueue[],
  definitions: readonly LocalJobDefinition[],
): Catalogue {
  const arn = (kind: string, name: string) => `arn:aws:batch:${region}:${localAccount}:${kind}/${name}`;
  const queueByName = new Map(
    queues.flatMap((queue) => [
      [queue.name, queue],
      [arn('job-queue', queue.name), queue],
    ]),
  );
  const definitionByName = new Map(
    definitions.flatMap(({ attempts, evaluateOnExit, ...rest }) => {
      const definition = { ...rest, retryStrategy: RetryStrategy.parse({ attempts, evaluateOnExit }) };
      const { name } = rest;
      const names = [name, `${name}:1`];
      return [...names, ...names.map((each) => arn('job-definition', each))].map(
        (each) => [each, definition] as const,
      );
    }),
  );
  return {
    region,
    queue: (name) => found(queueByName.get(name), `Job queue ${name} does not exist`),
    findDefinition: (name) => definitionByName.get(name),
    definition: (name) => found(definitionByName.get(name), `Job definition ${name} does not exist`),
    arn: (kind, name) => arn(kind, kind === 'job-definition' ? `${name}:1` : name),
  };
}

function found<T>(thing: T | undefined, otherwise: string): T {
  if (thing === undefined) throw new BatchClientError(otherwise);
  return thing;
}
