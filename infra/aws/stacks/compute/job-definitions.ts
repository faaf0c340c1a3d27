import { Stack } from 'aws-cdk-lib';
import { CfnJobDefinition } from 'aws-cdk-lib/aws-batch';
import type { IRole } from 'aws-cdk-lib/aws-iam';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { maxLosses, retryRules } from '../../../../shared/jobs/host-loss.ts';

/** A definition for one container on Fargate, which can reach registries. */
export class ContainerJob extends Construct {
  constructor(scope: Construct, id: string, job: JobProgram, surroundings: JobSurroundings) {
    super(scope, id);
    const { timeout, diskGiB, publicAddresses } = surroundings;
    new CfnJobDefinition(this, 'Definition', {
      type: 'container',
      jobDefinitionName: job.definition,
      platformCapabilities: ['FARGATE'],
      retryStrategy,
      timeout: { attemptDurationSeconds: timeout },
      containerProperties: {
        ...containerOf(this, job, surroundings),
        ephemeralStorage: { sizeInGiB: diskGiB },
        networkConfiguration: { assignPublicIp: publicAddresses ? 'ENABLED' : 'DISABLED' },
        runtimePlatform: { cpuArchitecture: 'X86_64', operatingSystemFamily: 'LINUX' },
        fargatePlatformConfiguration: { platformVersion: 'LATEST' },
      },
    });
  }
}

/** A program of the job image, or of another image built from it. */
export interface JobProgram {
  definition: string;
  image: string;
  /** File of the program within the image. */
  program: string;
  role: IRole;
  environment: Readonly<Record<string, string>>;
}

/** Common settings of all definitions of a deployment. */
export interface JobSurroundings {
  executionRole: IRole;
  log: ILogGroup;
  diskGiB: number;
  /** Default timeout in seconds; every submission sets its own. */
  timeout: number;
  /** Whether a Fargate container has a public address, which it needs to reach registries from a public subnet. */
  publicAddresses: boolean;
  /** Maximum MiB of `/dev/shm` on cluster nodes and on nodes with GPUs. */
  sharedMemory: { cluster: number; gpu: number };
}

const retryStrategy: CfnJobDefinition.RetryStrategyProperty = {
  attempts: maxLosses,
  evaluateOnExit: [...retryRules],
};

function containerOf(
  scope: Construct,
  { image, program, role, environment }: JobProgram,
  { executionRole, log }: JobSurroundings,
) {
  const { region } = Stack.of(scope);
  return {
    image,
    command: [program],
    jobRoleArn: role.roleArn,
    executionRoleArn: executionRole.roleArn,
    // The image runs user programs as another user. Nothing in it may gain privileges.
    environment: Object.entries({ ...environment, AWS_REGION: region }).map(([name, value]) => ({
      name,
      value,
    })),
    logConfiguration: {
      logDriver: 'awslogs',
      options: {
        'awslogs-group': log.logGroupName,
        'awslogs-region': region,
        'awslogs-stream-prefix': 'job',
      },
    },
    // Sizes of the smallest job; every submission sets its own.
    resourceRequirements: [
      { type: 'VCPU', value: '1' },
      { type: 'MEMORY', value: '2048' },
    ],
  };
}

/**
 * A definition for one EC2 node with GPUs. It uses the network of the node, and so its public address. Data
 * loaders pass batches in shared memory, for which Docker's default is 64 MiB.
 */
export class GpuJob extends Construct {
  constructor(scope: Construct, id: string, job: JobProgram, surroundings: JobSurroundings) {
    super(scope, id);
    const container = containerOf(
      this,
      { ...job, environment: { ...job.environment, NVIDIA_DRIVER_CAPABILITIES: 'compute,utility' } },
      surroundings,
    );
    new CfnJobDefinition(this, 'Definition', {
      type: 'container',
      jobDefinitionName: job.definition,
      platformCapabilities: ['EC2'],
      retryStrategy,
      timeout: { attemptDurationSeconds: surroundings.timeout },
      containerProperties: {
        ...container,
        resourceRequirements: [...container.resourceRequirements, { type: 'GPU', value: '1' }],
        linuxParameters: { sharedMemorySize: surroundings.sharedMemory.gpu },
      },
    });
  }
}

/** A definition for several EC2 nodes of the same kind. */
export class ClusterJob extends Construct {
  constructor(scope: Construct, id: string, job: JobProgram, surroundings: JobSurroundings) {
    super(scope, id);
    const numNodes = 2;
    new CfnJobDefinition(this, 'Definition', {
      type: 'multinode',
      jobDefinitionName: job.definition,
      platformCapabilities: ['EC2'],
      retryStrategy,
      timeout: { attemptDurationSeconds: surroundings.timeout },
      nodeProperties: {
        mainNode: 0,
        numNodes,
        nodeRangeProperties: [
          {
            targetNodes: '0:',
            container: {
              ...containerOf(this, job, surroundings),
              linuxParameters: { sharedMemorySize: surroundings.sharedMemory.cluster },
            },
          },
        ],
      },
    });
  }
}
