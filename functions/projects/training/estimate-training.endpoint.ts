import * as z from 'zod';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { projectPath } from '../../../shared/http/definition/parameters.ts';
import { estimatedTraining, estimateParameters, TrainingEstimate } from './sized-training.ts';

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
  input: { path: projectPath, query: z.strictObject(estimateParameters) },
  output: { 200: TrainingEstimate },

  handle: ({ query }, { settings }) => estimatedTraining(query, settings),
});
