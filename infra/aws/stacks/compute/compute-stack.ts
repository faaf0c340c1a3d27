import { RemovalPolicy, Stack, type StackProps } from 'aws-cdk-lib';
import { DockerImageAsset, Platform } from 'aws-cdk-lib/aws-ecr-assets';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type { LoadedTask } from '../../../service/tasks.ts';
import type { DeploymentOptions } from '../../options/deployment-options.ts';
import { minMemory } from '../../options/instances.ts';
import { batchNames } from '../batch-names.ts';
import type { DataStack } from '../data-stack.ts';
import { calledName, jobVariables, notifyArn, timersOf } from '../function-variables.ts';
import { executionRole, jobRole } from '../roles.ts';
import { Environments } from './environments.ts';
import { ClusterJob, ContainerJob, GpuJob, type JobProgram } from './job-definitions.ts';
import { Network } from './network.ts';

/** The compute environments, queues and definitions of the jobs. */
export class ComputeStack extends Stack {
  constructor(
    scope: Construct,
    id: string,
    data: DataStack,
    { jobs, imageFolder }: JobParts,
    options: DeploymentOptions,
    props: StackProps,
  ) {
    super(scope, id, props);
    const names = batchNames(options);
    new Environments(this, 'Environments', new Network(this, 'Network', options), names, options);

    const image = new DockerImageAsset(this, 'JobImage', {
      directory: imageFolder,
      platform: Platform.LINUX_AMD64,
    });
    const log = new LogGroup(this, 'JobLog', {
      retention: options.logRetentionDays,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const trusted = names.trusted.map((one) => one.image);
    const execution = executionRole(this, log, trusted);
    image.repository.grantPull(execution);
    const surroundings = {
      executionRole: execution,
      log,
      diskGiB: options.jobDiskGiB,
      timeout: options.limitJobSeconds,
      publicAddresses: options.publicAddresses,
      sharedMemory: {
        cluster: sharedMemory(options.clusterInstanceTypes),
        gpu: sharedMemory(options.gpuInstanceTypes),
      },
    };
    const resources = {
      ...data.stores,
      submissions: [],
      jobs: [],
      deployment: options.name,
      notify: notifyArn(this, options),
      timers: timersOf(this, options),
    };
    // Nodes of a cluster reach the bucket and the tables alone.
    const isolated = { ...jobVariables(data.stores, options), DOWNLOADS_IN_BUCKET: 'yes' };
    for (const job of jobs) {
      const program: JobProgram = {
        definition: names.definition(job.name),
        image: image.imageUri,
        program: programOf(job),
        role: jobRole(this, job, resources),
        environment: { ...isolated, NOTIFY_FUNCTION: calledName(options, 'notify') },
      };
      new ContainerJob(this, job.name, program, surroundings);
      if (job.name !== 'train') continue;
      const cluster = { ...program, definition: names.clusterDefinition, environment: isolated };
      new ClusterJob(this, 'cluster', cluster, surroundings);
      if (names.gpu !== undefined) {
        new GpuJob(this, 'gpu', { ...program, definition: names.gpu.definition }, surroundings);
      }
      for (const [index, { image: own, train, cluster: ofCluster, gpu }] of names.trusted.entries()) {
        const environment = { ...program.environment, TRUSTED_IMAGE: own };
        const inImage = { ...program, image: own, environment };
        new ContainerJob(this, `train-image-${index + 1}`, { ...inImage, definition: train }, surroundings);
        const onCluster = {
          ...inImage,
          definition: ofCluster,
          environment: { ...isolated, TRUSTED_IMAGE: own },
        };
        new ClusterJob(this, `cluster-image-${index + 1}`, onCluster, surroundings);
        if (gpu !== undefined) {
          new GpuJob(this, `gpu-image-${index + 1}`, { ...inImage, definition: gpu }, surroundings);
        }
      }
    }
  }
}

/** Parts of the jobs of a deployment. */
export interface JobParts {
  jobs: readonly LoadedTask[];
  /** Build context of their image. */
  imageFolder: string;
}

/** Shared memory in MiB for unknown instance types: half of the smallest instance with a GPU. */
const usualSharedMemory = 8192;

/**
 * Return the shared memory in MiB for nodes of these types: half of the smallest node's memory, as in Linux. It is
 * part of a job's memory.
 */
const sharedMemory = (instanceTypes: readonly string[]): number =>
  Math.floor((minMemory(instanceTypes) ?? 2 * usualSharedMemory) / 2);

/** Return the path of a job's program in the image, which mirrors the source tree. */
const programOf = ({ file }: LoadedTask): string => `functions/${file.replace(/\.ts$/, '.js')}`;
