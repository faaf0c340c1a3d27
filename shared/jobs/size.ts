import { Capacity } from '../core/capacity/capacity.ts';
import { FileId } from '../core/formats.ts';
import { badRequest, faultsOf, type ParameterFault, ServiceError } from '../core/service-error.ts';
import type { Limits, Settings } from '../core/settings.ts';
import type { TrainingKind } from '../data/jobs/job.ts';
import { sizeRange } from '../data/jobs/size-range.ts';
import { decimal, integer } from '../http/definition/parameters.ts';
import { smallestNode, usableMemory } from './cost.ts';
import { fargateFault, fargateSizes, isFargateSize } from './fargate-sizes.ts';
import { capacityFault, possibleCapacity } from './spot/capacity.ts';

/**
 * Return the size of each of `nodes`, as `complete` derives it from a request, and the capacity of a training. Throw one
 * 400 for all faults of these and of the job's `timeout` in seconds.
 */
export function allowedSize(
  complete: () => JobSize,
  { kind, timeout, nodes, gpus = 0, capacity, usual }: AskedSize,
  settings: Settings,
): JobSize & { capacity: Capacity } {
  const { limits } = settings;
  // Only a request sets `spot`: no deployment has it as its usual one.
  const requested = capacity ?? (usual === 'spot' ? usual : undefined);
  const message = capacityFault(requested, { kind, gpus }, settings);
  const completed: JobSize[] = [];
  const faults = faultsOf(() => completed.push(complete()));
  const [size] = completed;
  const vcpus = (size?.vcpus ?? 0) * nodes;
  const all = [
    ...faults,
    ...faultsOf(() => checkLimits({ timeout, vcpus }, limits)),
    ...(message === undefined ? [] : [fault('capacity', message)]),
  ];
  if (size === undefined || all.length > 0) throw badRequest(all);
  return { ...size, capacity: possibleCapacity(capacity ?? usual, { kind, gpus }, settings) };
}

/** Name the body as the place of faulty sizes, which other requests have in their query. */
export function inBody<T>(act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (!(error instanceof ServiceError) || error.errors.length === 0) throw error;
    throw badRequest(error.errors.map((fault) => ({ ...fault, in: 'body' })));
  }
}

interface AskedSize {
  kind: TrainingKind;
  timeout: number | undefined;
  nodes: number;
  gpus: number | undefined;
  capacity: Capacity | undefined;
  /** Capacity if none is asked for; undefined for that of the deployment. */
  usual?: Capacity | undefined;
}

export interface JobSize {
  vcpus: number;
  /** MiB. */
  memory: number;
  gpus: number;
}

/**
 * Throw a 400 for a job that exceeds the limits of this deployment. `vcpus` is the total of all nodes, `timeout`
 * in seconds.
 */
export function checkLimits(
  { timeout, vcpus }: { timeout: number | undefined; vcpus: number },
  limits: Limits,
): void {
  const faults: ParameterFault[] = [];
  const fault = (name: string, message: string) => faults.push({ in: 'query', name, message });
  if (timeout !== undefined && timeout > limits.jobSeconds)
    fault('timeout', `must be at most ${limits.jobSeconds} s in this deployment`);
  if (vcpus > limits.vcpus)
    fault('vcpus', `must be at most ${limits.vcpus} over all nodes in this deployment`);
  if (faults.length > 0) throw badRequest(faults);
}

const fault = (name: string, message: string): ParameterFault => ({ in: 'query', name, message });

/** Size of a job of any kind: vCPUs, MiB and seconds. */
export const sizeBounds = {
  vcpus: decimal(...sizeRange.vcpus),
  memory: integer(...sizeRange.memory),
  timeout: integer(...sizeRange.timeout),
};

/** Parameter of where a training runs. */
export const capacityParameter = {
  capacity: Capacity.optional().describe(
    '`spot`: on spare capacity of AWS, which costs a part and may be taken back; the training then goes on from its checkpoints, on Spot again. `spot-then-on-demand`: the third attempt is on demand, and so is one that has waited ten minutes for Spot. `on-demand`: never on Spot. Clusters are on demand. Default: as the deployment is set.',
  ),
};

/** Query parameters that set the size of a job. All are optional. Sizes are per node. */
export const sizeParameters = {
  vcpus: sizeBounds.vcpus
    .optional()
    .describe(
      'vCPUs of each node, such as `4`: 0.25, 0.5, 1, 2, 4, 8 or 16; any whole number on a cluster or with `gpus`. Default: the least that fits `memory`, or 1.',
    ),
  memory: sizeBounds.memory
    .optional()
    .describe(
      'Memory of each node in MiB, such as `8192`. Default: the least that fits `vcpus`; on a cluster, 2048 per vCPU; with `gpus`, all memory of the smallest node with that many. An error lists the allowed values.',
    ),
  gpus: integer(...sizeRange.gpus)
    .optional()
    .describe('GPUs of each node, such as `1`. Default: none.'),
  timeout: sizeBounds.timeout
    .optional()
    .describe(
      'Seconds after which the command of an attempt is stopped, such as `3600`. Default: the maximum of the deployment, 6 hours unless configured.',
    ),
  ...capacityParameter,
  dataset: FileId.optional().describe('Name of the data set to provide at `DATA_DIR`. Default: none.'),
};

/**
 * Return the requested Fargate size. Complete it if only vCPUs or only memory is given. Throw a 400 that lists the
 * offered sizes.
 */
export function fargateSize({ vcpus, memory }: Sizes): JobSize {
  const found = fargateFault({ vcpus, memory });
  if (found !== undefined) throw badRequest([fault(found.name, found.message)]);
  const offers = vcpus === undefined ? fargateSizes : fargateSizes.filter((offer) => offer.vcpus === vcpus);
  const smallest =
    vcpus === undefined && memory === undefined ? fargateSizes.find((offer) => offer.vcpus === 1) : offers[0];
  const fitting =
    memory === undefined ? smallest : offers.find((offer) => isFargateSize({ vcpus: offer.vcpus, memory }));
  // Every offered memory has vCPUs that offer it.
  if (fitting === undefined) throw new Error(`No vCPUs offer ${memory} MiB.`);
  return { vcpus: fitting.vcpus, memory: memory ?? fitting.from, gpus: 0 };
}

type Sizes = Partial<Record<keyof JobSize, number | undefined>>;

/**
 * Return the requested size of one EC2 node: whole vCPUs, any memory. With GPUs the default memory is all memory
 * of the smallest node that has them. Throw a 400 for a size that no node has.
 */
export function nodeSize(
  { vcpus = 1, memory, gpus = 0 }: Sizes,
  { gpus: maxGpus, jobsRunAs, prices }: Pick<Settings, 'gpus' | 'jobsRunAs' | 'prices'>,
): JobSize {
  const faults = [
    ...(Number.isInteger(vcpus) ? [] : [fault('vcpus', 'must be a whole number on a cluster or with gpus')]),
    ...(gpus <= maxGpus ? [] : [fault('gpus', tooManyGpus(maxGpus, jobsRunAs))]),
  ];
  if (faults.length > 0) throw badRequest(faults);
  const node = gpus === 0 ? undefined : smallestNode(prices?.nodes ?? [], { vcpus, gpus });
  return { vcpus, memory: memory ?? (node === undefined ? 2048 * vcpus : usableMemory(node)), gpus };
}

function tooManyGpus(most: number, jobsRunAs: Settings['jobsRunAs']): string {
  if (jobsRunAs === 'containers')
    return most === 0
      ? 'must be 0: this deployment has no GPUs; its option gpuInstanceTypes adds them'
      : `must be at most ${most}`;
  return most === 0
    ? 'must be 0: this machine has no NVIDIA GPU (no /dev/nvidia0)'
    : `must be at most ${most}, the number of GPUs of this machine`;
}
