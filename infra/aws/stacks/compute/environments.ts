import { CfnComputeEnvironment, CfnJobQueue } from 'aws-cdk-lib/aws-batch';
import { CfnPlacementGroup } from 'aws-cdk-lib/aws-ec2';
import { ParameterValueType, StringParameter } from 'aws-cdk-lib/aws-ssm';
import { Construct } from 'constructs';
import type { DeploymentOptions } from '../../options/deployment-options.ts';
import type { BatchNames } from '../batch-names.ts';
import type { Network } from './network.ts';
import { NodeParts } from './node-parts.ts';

/** Compute environments and queues of the jobs. Without jobs they run no instances and cost nothing. */
export class Environments extends Construct {
  constructor(scope: Construct, id: string, network: Network, names: BatchNames, options: DeploymentOptions) {
    super(scope, id);
    const parts = new NodeParts(this, 'Nodes', options);
    // Use separate queues: Batch moves on to a queue's next environment when one is full, at any price.
    this.#queue('TrainQueue', names.trainQueue, this.#fargate('Fargate', 'FARGATE', network, options));
    const spot = this.#fargate('FargateSpot', 'FARGATE_SPOT', network, options);
    this.#queue('TrainSpotQueue', names.trainSpotQueue, spot);
    const cluster = this.#cluster(parts, network, options);
    this.#queue('ClusterQueue', names.clusterQueue, cluster.plain);
    if (names.gpu !== undefined && cluster.gpu !== undefined) {
      this.#queue('ClusterGpuQueue', names.gpu.clusterQueue, cluster.gpu);
      const gpus = (id: string, isSpot: boolean) => this.#gpus(id, parts, network, options, isSpot);
      this.#queue('GpuQueue', names.gpu.queue, gpus('GpuOnDemand', false));
      this.#queue('GpuSpotQueue', names.gpu.spotQueue, gpus('GpuSpot', true));
    }
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

  /** Make environments with nodes close together in one subnet, as multi-node jobs need. */
  #cluster(
    parts: NodeParts,
    { subnetIds, cluster }: Network,
    options: DeploymentOptions,
  ): { plain: CfnComputeEnvironment; gpu: CfnComputeEnvironment | undefined } {
    const { clusterMaxVcpus, clusterInstanceTypes, gpuInstanceTypes } = options;
    const group = new CfnPlacementGroup(this, 'PlacementGroup', { strategy: 'cluster' });
    const together = {
      maxvCpus: clusterMaxVcpus,
      placementGroup: group.attrGroupName,
      subnets: subnetIds.slice(0, 1),
      securityGroupIds: [cluster.securityGroupId],
    };
    const nodes = (id: string, instanceTypes: readonly string[], imageType: keyof typeof images) =>
      this.#nodes(id, parts, { ...together, instanceTypes, imageType }, options);
    return {
      plain: nodes('Cluster', clusterInstanceTypes, plainImage),
      gpu: gpuInstanceTypes.length > 0 ? nodes('ClusterGpu', gpuInstanceTypes, gpuImage) : undefined,
    };
  }

  /**
   * Make an environment of single nodes with GPUs, in any zone. Their jobs use the node's network, with its public
   * address.
   */
  #gpus(
    id: string,
    parts: NodeParts,
    { subnetIds, jobs }: Network,
    options: DeploymentOptions,
    isSpot: boolean,
  ): CfnComputeEnvironment {
    const { gpuInstanceTypes, gpuMaxVcpus } = options;
    const anywhere = {
      isSpot,
      maxvCpus: gpuMaxVcpus,
      instanceTypes: gpuInstanceTypes,
      imageType: gpuImage as typeof gpuImage,
      subnets: [...subnetIds],
      securityGroupIds: [jobs.securityGroupId],
    };
    return this.#nodes(id, parts, anywhere, options);
  }

  #nodes(
    id: string,
    { profile, template }: NodeParts,
    { isSpot = false, instanceTypes, imageType, ...resources }: NodeResources,
    { limitJobSeconds, newestNodeImage }: DeploymentOptions,
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
        ec2Configuration: [
          { imageType, ...(newestNodeImage && { imageIdOverride: this.#newestImage(imageType) }) },
        ],
        instanceRole: profile.attrArn,
        launchTemplate: { launchTemplateId: template.ref, version: template.attrLatestVersionNumber },
        updateToLatestImageVersion: true,
      },
      updatePolicy: {
        terminateJobsOnUpdate: false,
        jobExecutionTimeoutMinutes: updateMinutes(limitJobSeconds),
      },
    });
  }

  /**
   * Return the newest image of the nodes, which every deployment looks up. Without this, Batch keeps the image
   * that was the newest at the last other change of the environment.
   */
  #newestImage(imageType: keyof typeof images): string {
    return StringParameter.valueForTypedStringParameterV2(
      this,
      `/aws/service/ecs/optimized-ami/amazon-linux-2023/${images[imageType]}recommended/image_id`,
      ParameterValueType.AWS_EC2_IMAGE_ID,
    );
  }

  #queue(id: string, name: string, environment: CfnComputeEnvironment): void {
    new CfnJobQueue(this, id, {
      jobQueueName: name,
      priority: 1,
      computeEnvironmentOrder: [{ order: 1, computeEnvironment: environment.attrComputeEnvironmentArn }],
      jobStateTimeLimitActions: givenUp.map(([reason, maxTimeSeconds]) => ({
        action: 'CANCEL',
        state: 'RUNNABLE',
        reason,
        maxTimeSeconds,
      })),
    });
  }
}

const plainImage = 'ECS_AL2023';

const gpuImage = 'ECS_AL2023_NVIDIA';

/** Part of the SSM parameter for the newest image of each type. */
const images = { [plainImage]: '', [gpuImage]: 'gpu/' } as const;

/** Differences between environments of EC2 nodes. */
type NodeResources = Pick<
  CfnComputeEnvironment.ComputeResourcesProperty,
  'subnets' | 'securityGroupIds' | 'maxvCpus' | 'placementGroup'
> & { instanceTypes: readonly string[]; imageType: keyof typeof images; isSpot?: boolean };

/** Maximum minutes that Batch lets jobs run on nodes that an update replaces. */
const maxUpdateMinutes = 7_200;

/** Minutes from a job's timeout to the end of its container. */
const endMinutes = 10;

/** Return the minutes that running jobs continue during an update: as long as the longest job may run. */
const updateMinutes = (jobSeconds: number): number =>
  Math.min(maxUpdateMinutes, Math.ceil(jobSeconds / 60) + endMinutes);

/** Seconds after which Batch gives up a job that can never be placed, with its reason. */
const misfitSeconds = 600;

/** A job waits longer for capacity, but not forever. */
const capacitySeconds = 12 * 60 * 60;

const givenUp = [
  ['MISCONFIGURATION:COMPUTE_ENVIRONMENT_MAX_RESOURCE', misfitSeconds],
  ['MISCONFIGURATION:JOB_RESOURCE_REQUIREMENT', misfitSeconds],
  ['CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY', capacitySeconds],
] as const;
