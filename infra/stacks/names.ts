import type { Stack } from 'aws-cdk-lib';
import type { DeploymentOptions } from '../options.ts';

/**
 * Names of queues and job definitions. They are names, not references between stacks: a definition gets another ARN
 * with every revision, and CloudFormation refuses to change what another stack has imported.
 */
export interface BatchNames {
  trainQueue: string;
  clusterQueue: string;
  /** Definition of a job's program on one container, by the job's name. */
  definition(job: string): string;
  /** Definition of a training on a cluster. */
  clusterDefinition: string;
  /** Definitions of a training in each trusted image. */
  trusted: readonly { image: string; train: string; cluster: string }[];
}

export function batchNames({ name, trustedImages }: DeploymentOptions): BatchNames {
  return {
    trainQueue: `${name}-train`,
    clusterQueue: `${name}-cluster`,
    definition: (job) => `${name}-${job}`,
    clusterDefinition: `${name}-cluster`,
    trusted: trustedImages.map((image, index) => ({
      image,
      train: `${name}-train-image-${index + 1}`,
      cluster: `${name}-cluster-image-${index + 1}`,
    })),
  };
}

/** ARNs by which functions may submit: the queues, and every definition by name and in every revision. */
export function submissionArns(stack: Stack, names: BatchNames, jobs: readonly string[]): string[] {
  const arn = (resource: string, resourceName: string) =>
    stack.formatArn({ service: 'batch', resource, resourceName });
  const definitions = [
    ...jobs.map(names.definition),
    names.clusterDefinition,
    ...names.trusted.flatMap(({ train, cluster }) => [train, cluster]),
  ];
  return [
    ...[names.trainQueue, names.clusterQueue].map((queue) => arn('job-queue', queue)),
    ...definitions.flatMap((name) => [arn('job-definition', name), arn('job-definition', `${name}:*`)]),
  ];
}
