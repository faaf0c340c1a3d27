import { ConfigGraph } from '../../shared/config-graph/config-graph.ts';
import { readRecords } from '../../shared/data/needs.ts';
import { preferredMediaType } from '../../shared/http/accept.ts';
import { content as contentOf, defineEndpoint } from '../../shared/http/definition.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { Reply } from '../../shared/http/reply.ts';
import { configPath } from './config-answer.ts';
import { requireStoredConfig } from './stored-config.ts';
import { type GraphForm, writeConfigGraph } from './write-config-graph.ts';

const mediaTypes = [
  'application/json',
  'image/svg+xml',
  'text/vnd.mermaid',
  'text/vnd.graphviz',
] as const satisfies readonly GraphForm[];

export const endpoint = defineEndpoint({
  name: 'readConfigGraph',
  method: 'GET',
  path: '/projects/{project_id}/configs/{config_id}/graph',
  summary: 'Graph of a configuration',
  description:
    'A pipeline of stages, the layers of a model, or the structure of the document with its references. `Accept` chooses between JSON, a drawing (SVG), Mermaid and Graphviz.',
  allow: 'viewer',
  project: 'viewer',
  needs: { records: readRecords },
  input: { path: configPath },
  output: { 200: contentOf(mediaTypes, ConfigGraph) },
  problems: ['not-found', 'too-large'],
  runtime: { memory: 1024 },
  etag: true,

  async handle({ path: { project_id, config_id } }, { records, header }) {
    const { config, content } = await requireStoredConfig(records, project_id, config_id);
    const form = preferredMediaType(header('Accept'), mediaTypes);
    const text = await writeConfigGraph({ config_id, content, form });
    const mediaType = form === 'application/json' ? form : `${form}; charset=utf-8`;
    return Reply.content(mediaType, text, { headers: { Vary: 'Accept' }, version: config.version });
  },
});

export const handler = lambda(endpoint);
