import * as z from 'zod';
import { Capacity } from '../../../shared/core/capacity/capacity.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { integer, projectPath } from '../../../shared/http/definition/parameters.ts';
import { costEstimates } from '../../../shared/jobs/cost.ts';
import { allowedSize, fargateSize, nodeSize, sizeParameters } from '../../../shared/jobs/size.ts';

const { dataset: _, ...sizes } = sizeParameters;

export const endpoint = defineEndpoint({
  name: 'estimateTraining',
  method: 'GET',
  path: '/projects/{project_id}/train/estimate',
  summary: 'Size and cost of a training before it starts',
  description:
    'Applies the same sizes, defaults and checks as the start of the training, but starts nothing.',
  allow: 'viewer',
  project: 'viewer',
  needs: {},
  input: {
    path: projectPath,
    query: z.strictObject({
      ...sizes,
      nodes: integer(1, 64)
        .optional()
        .describe('Nodes of a cluster, for `train-remote`. Default: one machine.'),
    }),
  },
  output: {
    200: z.object({
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
    }),
  },

  async handle({ query }, { settings }) {
    const { nodes, gpus = 0, timeout, capacity } = query;
    const kind = nodes === undefined ? ('train' as const) : ('train-remote' as const);
    const isOnNodes = nodes !== undefined || gpus > 0;
    const complete = () => (isOnNodes ? nodeSize(query, settings) : fargateSize(query));
    const demand = { kind, timeout, nodes: nodes ?? 1, gpus, capacity };
    const size = allowedSize(complete, demand, settings);
    const whole = { ...size, nodes: nodes ?? 1, timeout: timeout ?? settings.limits.jobSeconds };
    const estimates = costEstimates(settings.prices, { ...whole, isOnNodes });
    const highest = whole.capacity === 'spot' ? 'spot' : 'on-demand';
    return {
      ...whole,
      cost_estimate: estimates?.[highest] ?? null,
      spot_estimate: whole.capacity === 'on-demand' ? null : (estimates?.spot ?? null),
    };
  },
});
