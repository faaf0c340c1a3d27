import * as z from 'zod';
import { controlBatch } from '../../../shared/aws/needs.ts';
import { FileId } from '../../../shared/core/formats.ts';
import { findEnvironment } from '../../../shared/data/projects/environment.ts';
import { readVariablesKey } from '../../../shared/data/projects/variables-key.ts';
import { sizeRange } from '../../../shared/data/rules/job-size.ts';
import { writeRecords } from '../../../shared/data/table/needs.ts';
import { ExperimentAnswer } from '../../../shared/experiments/experiment-answer.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { integer } from '../../../shared/http/definition/parameters.ts';
import { projectPath } from '../../../shared/http/definition/project-path.ts';
import { lambda } from '../../../shared/http/pipeline/lambda.ts';
import { allowedSize } from '../../../shared/jobs/admission/job-limits.ts';
import { nodeSize, sizeParameters } from '../../../shared/jobs/admission/job-size.ts';
import { chooseConfig } from '../configs/choose-config.ts';
import { noEnvironment } from '../environment/no-environment.ts';
import { beginExperiment } from './begin-experiment.ts';
import { gitOf, gitParameters } from './git-parameters.ts';
import { meantParameters } from './meant-inputs.ts';
import { creatingExperiment, submitAndAnswer } from './recorded-experiment.ts';

export const endpoint = defineEndpoint({
  name: 'trainProjectRemote',
  method: 'POST',
  path: '/projects/{project_id}/train-remote',
  summary: 'Train the project on a remote cluster of several nodes',
  allow: 'developer',
  project: 'developer',
  needs: { records: writeRecords, batch: controlBatch, keys: readVariablesKey },
  input: {
    path: projectPath,
    query: z.strictObject({
      config: FileId.optional().describe(
        'File name of the configuration to train with; without it the only one, or the one last trained.',
      ),
      nodes: integer(...sizeRange.nodes)
        .optional()
        .describe('Nodes of the cluster, such as `4`. Default: 2.'),
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
    const { nodes = 2, timeout, dataset } = query;
    const git = gitOf(query);
    const size = allowedSize(() => nodeSize(query, settings), { timeout, nodes }, settings.limits);
    const [config, environment] = await Promise.all([
      chooseConfig(records, project.project_id, query.config),
      findEnvironment(records, project.project_id),
    ]);
    if (environment === undefined) throw noEnvironment();
    const request = {
      kind: 'train-remote',
      config,
      environment,
      size,
      nodes,
      timeout,
      dataset,
      git,
      meant: query,
    } as const;
    return submitAndAnswer(await beginExperiment(request, context), context, true);
  },
});

export const handler = lambda(endpoint);
