import { Fn, Stack } from 'aws-cdk-lib';
import { CfnComputeEnvironment, CfnJobQueue } from 'aws-cdk-lib/aws-batch';
import { CfnLaunchTemplate, CfnPlacementGroup } from 'aws-cdk-lib/aws-ec2';
import { CfnInstanceProfile, ManagedPolicy, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import type { DeploymentOptions } from '../../options.ts';
import type { BatchNames } from '../names.ts';
import type { Network } from './network.ts';
import { nodeUserData } from './user-data.ts';

/** After so many seconds a job that can never be placed is given up, with the reason that Batch gives. */
const misfitSeconds = 600;
/** For capacity one waits longer, but not for ever. */
const capacitySeconds = 12 * 60 * 60;

const givenUp = [
  ['MISCONFIGURATION:COMPUTE_ENVIRONMENT_MAX_RESOURCE', misfitSeconds],
  ['MISCONFIGURATION:JOB_RESOURCE_REQUIREMENT', misfitSeconds],
  ['CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY', capacitySeconds],
] as const;

/** Where jobs run: nothing of it exists, or costs anything, while there are none. */
export class Environments extends Construct {
  constructor(scope: Construct, id: string, network: Network, names: BatchNames, options: DeploymentOptions) {
    super(scope, id);
    const { spot, gpuInstanceTypes, clusterInstanceTypes } = options;
    const fargate = [
      ...(spot ? [this.#fargate('FargateSpot', 'FARGATE_SPOT', network, options)] : []),
      this.#fargate('Fargate', 'FARGATE', network, options),
    ];
    const nodes = this.#nodes(network, options);
    const cluster = [
      nodes('Cluster', clusterInstanceTypes, 'ECS_AL2023'),
      ...(gpuInstanceTypes.length > 0 ? [nodes('Gpu', gpuInstanceTypes, 'ECS_AL2023_NVIDIA')] : []),
    ];
    this.#queue('TrainQueue', names.trainQueue, fargate);
    this.#queue('ClusterQueue', names.clusterQueue, cluster);
  }

  #fargate(
    id: string,
    type: 'FARGATE' | 'FARGATE_SPOT',
    { vpc, jobs }: Network,
    { maxVcpus }: DeploymentOptions,
  ): CfnComputeEnvironment {
    return new CfnComputeEnvironment(this, id, {
      type: 'MANAGED',
      replaceComputeEnvironment: false,
      computeResources: {
        type,
        maxvCpus: maxVcpus,
        subnets: vpc.publicSubnets.map(({ subnetId }) => subnetId),
        securityGroupIds: [jobs.securityGroupId],
      },
    });
  }

  /** Makes environments of EC2 nodes, in one subnet and close together, as multi-node jobs are to be. */
  #nodes({ vpc, cluster }: Network, { clusterMaxVcpus, jobDiskGiB }: DeploymentOptions) {
    const profile = this.#instanceProfile();
    const template = this.#launchTemplate(jobDiskGiB);
    const group = new CfnPlacementGroup(this, 'PlacementGroup', { strategy: 'cluster' });
    return (id: string, instanceTypes: readonly string[], imageType: string): CfnComputeEnvironment =>
      new CfnComputeEnvironment(this, id, {
        type: 'MANAGED',
        replaceComputeEnvironment: false,
        computeResources: {
          type: 'EC2',
          allocationStrategy: 'BEST_FIT_PROGRESSIVE',
          minvCpus: 0,
          maxvCpus: clusterMaxVcpus,
          instanceTypes: [...instanceTypes],
          ec2Configuration: [{ imageType }],
          instanceRole: profile.attrArn,
          launchTemplate: { launchTemplateId: template.ref, version: template.attrLatestVersionNumber },
          placementGroup: group.attrGroupName,
          subnets: vpc.publicSubnets.slice(0, 1).map(({ subnetId }) => subnetId),
          securityGroupIds: [cluster.securityGroupId],
          updateToLatestImageVersion: true,
        },
        updatePolicy: { terminateJobsOnUpdate: false, jobExecutionTimeoutMinutes: 60 },
      });
  }

  #instanceProfile(): CfnInstanceProfile {
    const role = new Role(this, 'NodeRole', {
      assumedBy: new ServicePrincipal('ec2.amazonaws.com'),
      managedPolicies: [
        ManagedPolicy.fromAwsManagedPolicyName('service-role/AmazonEC2ContainerServiceforEC2Role'),
      ],
    });
    return new CfnInstanceProfile(this, 'NodeProfile', { roles: [role.roleName] });
  }

  #launchTemplate(diskGiB: number): CfnLaunchTemplate {
    return new CfnLaunchTemplate(this, 'NodeTemplate', {
      launchTemplateData: {
        userData: Fn.base64(nodeUserData),
        metadataOptions: { httpTokens: 'required', httpPutResponseHopLimit: 1 },
        blockDeviceMappings: [
          {
            deviceName: '/dev/xvda',
            ebs: { volumeSize: diskGiB, volumeType: 'gp3', encrypted: true, deleteOnTermination: true },
          },
        ],
        tagSpecifications: [
          { resourceType: 'instance', tags: [{ key: 'Name', value: `${Stack.of(this).stackName}-node` }] },
        ],
      },
    });
  }

  #queue(id: string, name: string, environments: readonly CfnComputeEnvironment[]): void {
    new CfnJobQueue(this, id, {
      jobQueueName: name,
      priority: 1,
      computeEnvironmentOrder: environments.map((environment, index) => ({
        order: index + 1,
        computeEnvironment: environment.attrComputeEnvironmentArn,
      })),
      jobStateTimeLimitActions: givenUp.map(([reason, maxTimeSeconds]) => ({
        action: 'CANCEL',
        state: 'RUNNABLE',
        reason,
        maxTimeSeconds,
      })),
    });
  }
}
