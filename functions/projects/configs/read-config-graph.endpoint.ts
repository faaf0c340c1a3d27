import { readRecords } from '../../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { configPath, versionQuery } from './config-answer.ts';
import { answerGraph, graphDescription, graphOutput } from './config-graph.ts';
import { requireStoredConfig } from './stored-config.ts';

export const endpoint = defineEndpoint({
  name: 'readConfigGraph',
  method: 'GET',
  path: '/projects/{project_id}/configs/{config_id}/graph',
  summary: 'Graph of a configuration',
  description: graphDescription,
  allow: 'viewer',
  project: 'viewer',
  needs: { records: readRecords },
  input: { path: configPath, query: versionQuery },
  work: 'thread: one file of at most 1 MB, 15 s on a thread of its own, 8 waiting',
  output: graphOutput,
  problems: ['not-found', 'conflict', 'too-large'],
  runtime: { memory: 1024 },
  etag: true,

  async handle({ path: { project_id, config_id }, query }, { records, header }) {
    const { config, content } = await requireStoredConfig(records, project_id, config_id, query.version);
    return answerGraph({ config_id, content }, header('Accept'), config.version);
  },
});
