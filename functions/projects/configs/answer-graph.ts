import { ConfigGraph } from '../../../shared/config/graph/config-graph.ts';
import type { ConfigText } from '../../../shared/config/parse-config.ts';
import { preferredMediaType } from '../../../shared/http/body/accept.ts';
import { content } from '../../../shared/http/definition/endpoint-output.ts';
import { Reply } from '../../../shared/http/definition/reply.ts';
import { type GraphForm, writeConfigGraph } from './write-config-graph.ts';

const mediaTypes = [
  'application/json',
  'image/svg+xml',
  'text/vnd.mermaid',
  'text/vnd.graphviz',
] as const satisfies readonly GraphForm[];

/** Output of an operation that answers the graph of a configuration. */
export const graphOutput = { 200: content(mediaTypes, ConfigGraph) };

export const graphDescription =
  'A pipeline of stages, the layers of a model, or the structure of the document with its references. `Accept` chooses between JSON, a drawing (SVG), Mermaid and Graphviz.';

/** Answer the graph of a configuration in the form that `Accept` prefers. @throws ServiceError 413, 503 */
export async function answerGraph(config: ConfigText, accept: string | undefined, version: number) {
  const form = preferredMediaType(accept, mediaTypes);
  const text = await writeConfigGraph({ ...config, form });
  const mediaType = form === 'application/json' ? form : `${form}; charset=utf-8`;
  return Reply.content(mediaType, text, { headers: { Vary: 'Accept' }, version });
}
