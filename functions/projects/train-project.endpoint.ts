import * as z from 'zod';
import { controlBatch } from '../../shared/aws/needs.ts';
import { FileId } from '../../shared/core/formats.ts';
import { notFound } from '../../shared/core/service-error.ts';
import { findConfig } from '../../shared/data/config.ts';
import { findEnvironment } from '../../shared/data/environment.ts';
import { writeRecords } from '../../shared/data/needs.ts';
import { readVariablesKey } from '../../shared/data/variables-key.ts';
import { defineEndpoint } from '../../shared/http/definition.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { projectPath } from '../../shared/http/project-path.ts';
import { ExperimentAnswer } from '../experiments/experiment-answer.ts';
import { beginExperiment } from './begin-experiment.ts';
import { gitOf, gitParameters } from './git-parameters.ts';
import { allowedSize } from './job-limits.ts';
import { fargateSize, nodeSize, sizeParameters } from './job-size.ts';
import { meantParameters } from './meant-inputs.ts';
import { noEnvironment } from './no-environment.ts';
import { creatingExperiment, submitAndAnswer } from './recorded-experiment.ts';

export const endpoint = defineEndpoint({
  name: 'trainProject',
  method: 'POST',
  path: '/projects/{project_id}/train',
  summary: 'Train the project on one machine with a configuration',
  allow: 'developer',
  project: 'developer',
  needs: { records: writeRecords, batch: controlBatch, keys: readVariablesKey },
  input: {
    path: projectPath,
    query: z.strictObject({
      config: FileId.describe('File name of the configuration to train with, such as `train.yaml`.'),
      ...sizeParameters,
      ...meantParameters,
      ...gitParameters,
    }),
  },
  output: { 200: ExperimentAnswer },
  problems: ['conflict'],
  etag: true,
  idempotent: creatingExperiment,

  async handle({ query }, context) {
    const { records, project, settings } = context;
    const { timeout, dataset, gpus = 0 } = query;
    const complete = () => (gpus === 0 ? fargateSize(query) : nodeSize(query, settings));
    const git = gitOf(query);
    const size = allowedSize(complete, { timeout, nodes: 1 }, settings.limits);
    const [config, environment] = await Promise.all([
      findConfig(records, project.project_id, query.config),
      findEnvironment(records, project.project_id),
    ]);
    if (config === undefined) throw notFound('config', query.config);
    if (environment === undefined) throw noEnvironment();
    const request = {
      kind: 'train',
      config,
      environment,
      size,
      nodes: 1,
      timeout,
      dataset,
      git,
      meant: query,
    } as const;
    return submitAndAnswer(await beginExperiment(request, context), context, true);
  },
});

export const handler = lambda(endpoint);
