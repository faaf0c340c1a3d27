import * as z from 'zod';
import { Capacity } from '../../../shared/core/capacity/capacity.ts';
import { badRequest, faultsOf, type ParameterFault } from '../../../shared/core/service-error.ts';
import type { Settings } from '../../../shared/core/settings.ts';
import { integer } from '../../../shared/http/definition/parameters.ts';
import { costEstimates } from '../../../shared/jobs/cost.ts';
import {
  allowedSize,
  fargateSize,
  type JobSize,
  nodeSize,
  sizeParameters,
} from '../../../shared/jobs/size.ts';

const { dataset: _, ...sizesOnly } = sizeParameters;

/** Query parameters of the requests that estimate a training. */
export const estimateParameters = {
  ...sizesOnly,
  nodes: integer(1, 64).optional().describe('Nodes of a cluster, for `train-remote`. Default: one machine.'),
};

/** Size and cost of a training before it begins. */
export const TrainingEstimate = z.object({
  vcpus: z.number(),
  memory: z.number().int().describe('MiB of each node.'),
  gpus: z.number().int(),
  nodes: z.number().int(),
  timeout: z.number().int().describe('Maximum seconds of an attempt.'),
  capacity: Capacity,
  cost_estimate: z
    .number()
    .nullable()
    .describe(
      'US dollars for an attempt that reaches its timeout, where it costs most; null if compute is free.',
    ),
  spot_estimate: z
    .number()
    .nullable()
    .describe('US dollars for the same on Spot; null if it does not run there, or compute is free.'),
});
export type Estimate = z.infer<typeof TrainingEstimate>;

/**
 * Estimate a training by the sizes, defaults and checks of its start.
 * @param further returns the faults of the request that are not those of its size. It gets no estimate if the size has faults
 * @throws ServiceError 400 that names all faults
 */
export async function estimatedTraining(
  query: Sizes,
  settings: Settings,
  further: (estimate: Estimate | undefined) => Promise<readonly ParameterFault[]> = async () => [],
): Promise<Estimate> {
  const { nodes, gpus = 0, timeout, capacity } = query;
  const kind = nodes === undefined ? ('train' as const) : ('train-remote' as const);
  const isOnNodes = nodes !== undefined || gpus > 0;
  const complete = () => (isOnNodes ? nodeSize(query, settings) : fargateSize(query));
  const demand = { kind, timeout, nodes: nodes ?? 1, gpus, capacity };
  const sizes: ReturnType<typeof allowedSize>[] = [];
  const faults = faultsOf(() => sizes.push(allowedSize(complete, demand, settings)));
  const [size] = sizes;
  const whole = size && { ...size, nodes: nodes ?? 1, timeout: timeout ?? settings.limits.jobSeconds };
  const estimate = whole && { ...whole, ...costsOf(whole, isOnNodes, settings) };
  const all = [...faults, ...(await further(estimate))];
  if (estimate === undefined || all.length > 0) throw badRequest(all);
  return estimate;
}

type Sizes = Partial<Record<keyof JobSize | 'nodes' | 'timeout', number | undefined>> & {
  capacity?: Capacity | undefined;
};

function costsOf(
  size: JobSize & { nodes: number; timeout: number; capacity: Capacity },
  isOnNodes: boolean,
  { prices }: Settings,
): Pick<Estimate, 'cost_estimate' | 'spot_estimate'> {
  const estimates = costEstimates(prices, { ...size, isOnNodes });
  const highest = size.capacity === 'spot' ? 'spot' : 'on-demand';
  return {
    cost_estimate: estimates?.[highest] ?? null,
    spot_estimate: size.capacity === 'on-demand' ? null : (estimates?.spot ?? null),
  };
}
