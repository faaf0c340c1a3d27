import * as z from 'zod';
import { controlBatch } from '../../../shared/aws/needs.ts';
import { FileId } from '../../../shared/core/formats.ts';
import { notFound } from '../../../shared/core/service-error.ts';
import { findConfig } from '../../../shared/data/projects/config.ts';
import { findEnvironment } from '../../../shared/data/projects/environment.ts';
import { readVariablesKey } from '../../../shared/data/projects/variables-key.ts';
import { writeRecords } from '../../../shared/data/table/needs.ts';
import { ExperimentAnswer } from '../../../shared/experiments/experiment-answer.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { projectPath } from '../../../shared/http/definition/project-path.ts';
import { lambda } from '../../../shared/http/pipeline/lambda.ts';
import { allowedSize } from '../../../shared/jobs/admission/job-limits.ts';
import { fargateSize, nodeSize, sizeParameters } from '../../../shared/jobs/admission/job-size.ts';
import { noEnvironment } from '../environment/no-environment.ts';
import { beginExperiment } from './begin-experiment.ts';
import { gitOf, gitParameters } from './git-parameters.ts';
import { meantParameters } from './meant-inputs.ts';
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
