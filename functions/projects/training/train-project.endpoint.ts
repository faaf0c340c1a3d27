import * as z from 'zod';
import { FileId } from '../../../shared/core/formats.ts';
import { notFound } from '../../../shared/core/service-error.ts';
import { findConfig } from '../../../shared/data/projects/config.ts';
import { fargateSize, nodeSize } from '../../../shared/jobs/size.ts';
import { trainingEndpoint, trainingParameters } from './training-endpoint.ts';

export const endpoint = trainingEndpoint({
  kind: 'train',
  name: 'trainProject',
  path: '/projects/{project_id}/train',
  summary: 'Train the project on one machine with a configuration',
  query: z.strictObject({
    config: FileId.describe('File name of the configuration to train with, such as `train.yaml`.'),
    ...trainingParameters,
  }),

  nodes: () => 1,
  size: (query, settings) => ((query.gpus ?? 0) === 0 ? fargateSize(query) : nodeSize(query, settings)),

  async config(records, project_id, query) {
    const config = await findConfig(records, project_id, query.config);
    if (config === undefined) throw notFound('config', query.config);
    return config;
  },
});
