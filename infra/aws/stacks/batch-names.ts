import type { Stack } from 'aws-cdk-lib';
import type { DeploymentOptions } from '../options/deployment-options.ts';

export function batchNames({ name, trustedImages, gpuInstanceTypes }: DeploymentOptions): BatchNames {
  const hasGpus = gpuInstanceTypes.length > 0;
  return {
    trainQueue: `${name}-train`,
    trainSpotQueue: `${name}-train-spot`,
    clusterQueue: `${name}-cluster`,
    definition: (job) => `${name}-${job}`,
    clusterDefinition: `${name}-cluster`,
    gpu: hasGpus
      ? {
          queue: `${name}-gpu`,
          spotQueue: `${name}-gpu-spot`,
          definition: `${name}-gpu`,
          clusterQueue: `${name}-cluster-gpu`,
        }
      : undefined,
    trusted: trustedImages.map((image, index) => ({
      image,
      train: `${name}-train-image-${index + 1}`,
      cluster: `${name}-cluster-image-${index + 1}`,
      gpu: hasGpus ? `${name}-gpu-image-${index + 1}` : undefined,
    })),
  };
}

/**
 * Names of queues and job definitions. These are names, not references between stacks: a definition gets a new ARN
 * with every revision, and CloudFormation refuses to change an output that another stack imports.
 */
export interface BatchNames {
  trainQueue: string;
  /** Queue of the same jobs on Spot. */
  trainSpotQueue: string;
  clusterQueue: string;
  /** Return the definition of a job's program on one container, by the job's name. */
  definition(job: string): string;
  /** Definition of a training on a cluster. */
  clusterDefinition: string;
  /**
   * Queues and definition of a training with GPUs on one node, and queue of GPU clusters; undefined without GPUs.
   */
  gpu: { queue: string; spotQueue: string; definition: string; clusterQueue: string } | undefined;
  /** Training definitions for each trusted image. */
  trusted: readonly { image: string; train: string; cluster: string; gpu: string | undefined }[];
}

/** Return the names of all queues. */
export const queueNames = ({ trainQueue, trainSpotQueue, clusterQueue, gpu }: BatchNames): string[] => [
  trainQueue,
  trainSpotQueue,
  clusterQueue,
  ...(gpu === undefined ? [] : [gpu.queue, gpu.spotQueue, gpu.clusterQueue]),
];

/**
 * Return the ARNs that functions may submit to: the queues, and every definition by name and in every revision.
 */
export function submissionArns(stack: Stack, names: BatchNames, jobs: readonly string[]): string[] {
  const arn = (resource: string, resourceName: string) =>
    stack.formatArn({ service: 'batch', resource, resourceName });
  const definitions = [
    ...jobs.map(names.definition),
    names.clusterDefinition,
    ...(names.gpu === undefined ? [] : [names.gpu.definition]),
    ...names.trusted.flatMap(({ train, cluster, gpu }) => [
      train,
      cluster,
      ...(gpu === undefined ? [] : [gpu]),
    ]),
  ];
  return [
    ...queueNames(names).map((queue) => arn('job-queue', queue)),
    ...definitions.flatMap((name) => [arn('job-definition', name), arn('job-definition', `${name}:*`)]),
  ];
}
