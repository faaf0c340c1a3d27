import { RemovalPolicy, Stack, type StackProps } from 'aws-cdk-lib';
import { DockerImageAsset, Platform } from 'aws-cdk-lib/aws-ecr-assets';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type { DeploymentOptions } from '../../options.ts';
import type { LoadedTask } from '../../tasks.ts';
import type { DataStack } from '../data/data-stack.ts';
import { batchNames } from '../names.ts';
import { jobVariables } from '../settings.ts';
import { Environments } from './environments.ts';
import { ClusterJob, ContainerJob, type JobProgram } from './job-definitions.ts';
import { executionRole, jobRole } from './job-roles.ts';
import { Network } from './network.ts';

/** What the jobs of a deployment are made of. */
export interface JobParts {
  jobs: readonly LoadedTask[];
  /** Folder from which their image is built. */
  imageFolder: string;
}

/** The file of a job's program within the image, which mirrors the source tree. */
const programOf = ({ file }: LoadedTask): string => `functions/${file.replace(/\.ts$/, '.js')}`;

/** Where jobs run, and what. */
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
    new Environments(this, 'Environments', new Network(this, 'Network'), names, options);

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
    };
    const resources = { ...data.stores, submissions: [], jobs: [] };
    for (const job of jobs) {
      const program: JobProgram = {
        definition: names.definition(job.name),
        image: image.imageUri,
        program: programOf(job),
        role: jobRole(this, job, resources),
        environment: jobVariables(data.stores, options),
      };
      new ContainerJob(this, job.name, program, surroundings);
      if (job.name !== 'train') continue;
      new ClusterJob(this, 'cluster', { ...program, definition: names.clusterDefinition }, surroundings);
      for (const [index, { image: own, train, cluster }] of names.trusted.entries()) {
        const environment = { ...program.environment, TRUSTED_IMAGE: own };
        const inImage = { ...program, image: own, environment };
        new ContainerJob(this, `train-image-${index + 1}`, { ...inImage, definition: train }, surroundings);
        new ClusterJob(this, `cluster-image-${index + 1}`, { ...inImage, definition: cluster }, surroundings);
      }
    }
  }
}
