import { readRecords } from '../../../shared/data/table/needs.ts';
import { experimentPath } from '../../../shared/experiments/experiment-path.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { answerGraph, graphDescription, graphOutput } from './config-graph.ts';
import { requireExperimentConfig } from './stored-config.ts';

export const endpoint = defineEndpoint({
  name: 'readExperimentConfigGraph',
  method: 'GET',
  path: '/projects/{project_id}/experiments/{experiment_id}/config/graph',
  summary: 'Graph of the configuration that an experiment runs with',
  description: graphDescription,
  allow: 'viewer',
  project: 'viewer',
  needs: { records: readRecords },
  input: { path: experimentPath },
  work: 'thread: one file of at most 1 MB, 15 s on a thread of its own, 8 waiting',
  output: graphOutput,
  problems: ['not-found', 'conflict', 'too-large'],
  runtime: { memory: 1024 },
  etag: true,

  async handle({ path: { project_id, experiment_id } }, { records, header }) {
    const experiment = await requireExperimentConfig(records, project_id, experiment_id);
    const { config_id, config_version, content } = experiment;
    return answerGraph({ config_id, content }, header('Accept'), config_version);
  },
});
