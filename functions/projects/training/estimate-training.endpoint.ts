import * as z from 'zod';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { integer, projectPath } from '../../../shared/http/definition/parameters.ts';
import { costEstimate } from '../../../shared/jobs/cost.ts';
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
      cost_estimate: z
        .number()
        .nullable()
        .describe('US dollars for an attempt that reaches its timeout; null if compute is free.'),
    }),
  },

  async handle({ query }, { settings }) {
    const { nodes, gpus = 0, timeout } = query;
    const isOnNodes = nodes !== undefined || gpus > 0;
    const complete = () => (isOnNodes ? nodeSize(query, settings) : fargateSize(query));
    const size = allowedSize(complete, { timeout, nodes: nodes ?? 1 }, settings.limits);
    const whole = { ...size, nodes: nodes ?? 1, timeout: timeout ?? settings.limits.jobSeconds };
    return { ...whole, cost_estimate: costEstimate(settings.prices, { ...whole, isOnNodes }) };
  },
});
