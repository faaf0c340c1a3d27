import { buildConfigGraph } from '../../shared/config-graph/build-config-graph.ts';
import { ConfigGraph } from '../../shared/config-graph/config-graph.ts';
import { renderGraphviz } from '../../shared/config-graph/render-graphviz.ts';
import { renderMermaid } from '../../shared/config-graph/render-mermaid.ts';
import { readRecords } from '../../shared/data/needs.ts';
import { preferredMediaType } from '../../shared/endpoint/accept.ts';
import { content, defineEndpoint } from '../../shared/endpoint/definition.ts';
import { lambda } from '../../shared/endpoint/lambda.ts';
import { Reply } from '../../shared/endpoint/reply.ts';
import { configPath } from './config-answer.ts';
import { requireStoredConfig } from './stored-config.ts';

/** Draws the graph. What lays it out is loaded with the first drawing. */
async function drawn(graph: ConfigGraph): Promise<string> {
  const { renderSvg } = await import('../../shared/config-graph/render-svg.ts');
  return renderSvg(graph);
}

const renderers = {
  'image/svg+xml': drawn,
  'text/vnd.mermaid': renderMermaid,
  'text/vnd.graphviz': renderGraphviz,
} as const;

const mediaTypes = ['application/json', 'image/svg+xml', 'text/vnd.mermaid', 'text/vnd.graphviz'] as const;

export const endpoint = defineEndpoint({
  name: 'readConfigGraph',
  method: 'GET',
  path: '/projects/{project_id}/configs/{config_id}/graph',
  summary: 'Graph of a configuration',
  description:
    'A pipeline of stages, the layers of a model, or the structure of the document with its references. `Accept` chooses between JSON, a drawing (SVG), Mermaid and Graphviz.',
  allow: 'viewer',
  project: 'exists',
  needs: { records: readRecords },
  input: { path: configPath },
  output: { 200: content(mediaTypes, ConfigGraph) },
  problems: ['not-found'],
  etag: true,

  async handle({ path: { project_id, config_id } }, { records, header }) {
    const { config, parsed } = await requireStoredConfig(records, project_id, config_id);
    const graph = buildConfigGraph(config_id, parsed);
    const extras = { headers: { Vary: 'Accept' }, version: config.version };
    const mediaType = preferredMediaType(header('Accept'), mediaTypes);
    if (mediaType === 'application/json') return Reply.json(graph, extras);
    return Reply.content(`${mediaType}; charset=utf-8`, await renderers[mediaType](graph), extras);
  },
});

export const handler = lambda(endpoint);
