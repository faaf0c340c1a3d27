import { isFargateSize } from '../../../shared/jobs/fargate-sizes.ts';
import { BatchClientError } from './batch-client-error.ts';
import type { Definition, InstanceSize, LocalQueue, Platform } from './catalogue.ts';
import type { JobRecord } from './jobs/job-record.ts';

/** Return the milliseconds after which a job that fits no instance is given up. */
export const misfitMs = ({ misfitSeconds = usualMisfitSeconds }: LocalQueue): number => misfitSeconds * 1000;

const usualMisfitSeconds = 600;

/** AWS Batch's status reason for a job that fits no instance. */
export const misfitReason =
  'MISCONFIGURATION:JOB_RESOURCE_REQUIREMENT - The job resource requirement (vCPU/memory/GPU) is higher than that can be met by the CE(s) attached to the job queue.';

/** Whether each of the job's containers fits an instance of the queue. */
export function fits({ containers, nodes }: JobRecord, { instances }: LocalQueue): boolean {
  if (instances === undefined) return true;
  const used = containers.filter((_, index) => nodes.some(({ container }) => container === index));
  const holds = (size: InstanceSize) => (instance: InstanceSize) =>
    instance.vcpus >= size.vcpus && instance.memory >= size.memory && instance.gpus >= size.gpus;
  return used.every((container) => instances.some(holds(container)));
}

/**
 * Refuse combinations of definition, queue and requested sizes that AWS Batch refuses.
 * @throws BatchClientError
 */
export function checkPlacement(
  definition: Pick<Definition, 'name' | 'platform'>,
  queue: LocalQueue,
  sizes: readonly InstanceSize[],
): void {
  const { platform } = definition;
  if (platform !== undefined && queue.platform !== undefined && platform !== queue.platform) {
    throw new BatchClientError(
      `Job definition ${definition.name} has platformCapabilities ${platform}, queue ${queue.name} has compute environments of ${queue.platform}`,
    );
  }
  for (const size of sizes) checkSize(size, platform ?? queue.platform);
}

function checkSize({ vcpus, memory, gpus }: InstanceSize, platform: Platform | undefined): void {
  if (!Number.isInteger(gpus)) throw new BatchClientError('The value of GPU must be a whole number');
  if (platform === 'FARGATE') {
    if (gpus > 0) throw new BatchClientError('GPU is not supported for jobs on FARGATE');
    if (!isFargateSize({ vcpus, memory })) {
      throw new BatchClientError(`Fargate has no size of ${vcpus} vCPU and ${memory} MiB`);
    }
  }
  if (platform === 'EC2' && !(Number.isInteger(vcpus) && vcpus >= 1)) {
    throw new BatchClientError('The value of VCPU must be a whole number of at least 1 on EC2');
  }
}
