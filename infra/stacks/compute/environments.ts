import { CfnComputeEnvironment, CfnJobQueue } from 'aws-cdk-lib/aws-batch';
import { CfnPlacementGroup } from 'aws-cdk-lib/aws-ec2';
import { Construct } from 'constructs';
import type { DeploymentOptions } from '../../deployment-options.ts';
import type { BatchNames } from '../batch-names.ts';
import type { Network } from './network.ts';
import { NodeParts } from './node-parts.ts';

/** After so many seconds a job that can never be placed is given up, with the reason that Batch gives. */
const misfitSeconds = 600;
/** For capacity one waits longer, but not for ever. */
const capacitySeconds = 12 * 60 * 60;

const givenUp = [
  ['MISCONFIGURATION:COMPUTE_ENVIRONMENT_MAX_RESOURCE', misfitSeconds],
  ['MISCONFIGURATION:JOB_RESOURCE_REQUIREMENT', misfitSeconds],
  ['CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY', capacitySeconds],
] as const;

/** Differences between environments of EC2 nodes. */
type NodeResources = Pick<
  CfnComputeEnvironment.ComputeResourcesProperty,
  'subnets' | 'securityGroupIds' | 'maxvCpus' | 'placementGroup'
> & { instanceTypes: readonly string[]; imageType: string; isSpot?: boolean };

const gpuImage = 'ECS_AL2023_NVIDIA';

/** Where jobs run: nothing of it exists, or costs anything, while there are none. */
export class Environments extends Construct {
  constructor(scope: Construct, id: string, network: Network, names: BatchNames, options: DeploymentOptions) {
    super(scope, id);
    const { spot } = options;
    const fargate = [
      ...(spot ? [this.#fargate('FargateSpot', 'FARGATE_SPOT', network, options)] : []),
      this.#fargate('Fargate', 'FARGATE', network, options),
    ];
    const parts = new NodeParts(this, 'Nodes', options);
    this.#queue('TrainQueue', names.trainQueue, fargate);
    this.#queue('ClusterQueue', names.clusterQueue, this.#cluster(parts, network, options));
    if (names.gpu !== undefined)
      this.#queue('GpuQueue', names.gpu.queue, this.#gpus(parts, network, options));
  }

  #fargate(
    id: string,
    type: 'FARGATE' | 'FARGATE_SPOT',
    { subnetIds, jobs }: Network,
    { maxVcpus }: DeploymentOptions,
  ): CfnComputeEnvironment {
    return new CfnComputeEnvironment(this, id, {
      type: 'MANAGED',
      replaceComputeEnvironment: false,
      computeResources: {
        type,
        maxvCpus: maxVcpus,
        subnets: [...subnetIds],
        securityGroupIds: [jobs.securityGroupId],
      },
    });
  }

  /** Nodes in one subnet and close together, as multi-node jobs are to be. */
  #cluster(
    parts: NodeParts,
    { subnetIds, cluster }: Network,
    options: DeploymentOptions,
  ): CfnComputeEnvironment[] {
    const { clusterMaxVcpus, clusterInstanceTypes, gpuInstanceTypes } = options;
    const group = new CfnPlacementGroup(this, 'PlacementGroup', { strategy: 'cluster' });
    const together = {
      maxvCpus: clusterMaxVcpus,
      placementGroup: group.attrGroupName,
      subnets: subnetIds.slice(0, 1),
      securityGroupIds: [cluster.securityGroupId],
    };
    const nodes = (id: string, instanceTypes: readonly string[], imageType: string) =>
      this.#nodes(id, parts, { ...together, instanceTypes, imageType });
    return [
      nodes('Cluster', clusterInstanceTypes, 'ECS_AL2023'),
      ...(gpuInstanceTypes.length > 0 ? [nodes('ClusterGpu', gpuInstanceTypes, gpuImage)] : []),
    ];
  }

  /** Single nodes with GPUs, in any zone. Their jobs have the network of the node, whose address is public. */
  #gpus(parts: NodeParts, { subnetIds, jobs }: Network, options: DeploymentOptions): CfnComputeEnvironment[] {
    const { spot, gpuInstanceTypes, gpuMaxVcpus } = options;
    const anywhere = {
      maxvCpus: gpuMaxVcpus,
      instanceTypes: gpuInstanceTypes,
      imageType: gpuImage,
      subnets: [...subnetIds],
      securityGroupIds: [jobs.securityGroupId],
    };
    return [
      ...(spot ? [this.#nodes('GpuSpot', parts, { ...anywhere, isSpot: true })] : []),
      this.#nodes('GpuOnDemand', parts, anywhere),
    ];
  }

  #nodes(
    id: string,
    { profile, template }: NodeParts,
    { isSpot = false, instanceTypes, imageType, ...resources }: NodeResources,
  ): CfnComputeEnvironment {
    return new CfnComputeEnvironment(this, id, {
      type: 'MANAGED',
      replaceComputeEnvironment: false,
      computeResources: {
        ...resources,
        type: isSpot ? 'SPOT' : 'EC2',
        allocationStrategy: isSpot ? 'SPOT_PRICE_CAPACITY_OPTIMIZED' : 'BEST_FIT_PROGRESSIVE',
        minvCpus: 0,
        instanceTypes: [...instanceTypes],
        ec2Configuration: [{ imageType }],
        instanceRole: profile.attrArn,
        launchTemplate: { launchTemplateId: template.ref, version: template.attrLatestVersionNumber },
        updateToLatestImageVersion: true,
      },
      updatePolicy: { terminateJobsOnUpdate: false, jobExecutionTimeoutMinutes: 60 },
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
