import * as z from 'zod';
import { FileId } from '../../../shared/core/formats.ts';
import { sizeRange } from '../../../shared/data/jobs/size-range.ts';
import { integer } from '../../../shared/http/definition/parameters.ts';
import { nodeSize } from '../../../shared/jobs/size.ts';
import { chooseConfig } from './expected-inputs.ts';
import { trainingEndpoint, trainingParameters } from './training-endpoint.ts';

export const endpoint = trainingEndpoint({
  kind: 'train-remote',
  name: 'trainProjectRemote',
  path: '/projects/{project_id}/train-remote',
  summary: 'Train the project on a remote cluster of several nodes',
  query: z.strictObject({
    config: FileId.optional().describe(
      'File name of the configuration to train with. Default: the only one, or the one trained last.',
    ),
    nodes: integer(...sizeRange.nodes)
      .optional()
      .describe('Nodes of the cluster, such as `4`. Default: 2.'),
    ...trainingParameters,
  }),

  nodes: ({ nodes = 2 }) => nodes,
  size: nodeSize,
  config: (records, project_id, query) => chooseConfig(records, project_id, query.config),
});
