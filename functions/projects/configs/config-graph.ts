import { ConfigSyntaxError } from '../../../shared/config/config-syntax-error.ts';
import { buildConfigGraph } from '../../../shared/config/graph/build-config-graph.ts';
import { ConfigGraph } from '../../../shared/config/graph/config-graph.ts';
import { renderGraphviz } from '../../../shared/config/graph/draw/render-graphviz.ts';
import { renderMermaid } from '../../../shared/config/graph/draw/render-mermaid.ts';
import { type ConfigText, configKey, maxSmall } from '../../../shared/config/parse-config.ts';
import { parseConfigFile } from '../../../shared/config/parse-config-file.ts';
import { preferredMediaType } from '../../../shared/http/body/accept.ts';
import { content } from '../../../shared/http/definition/endpoint-output.ts';
import { Reply } from '../../../shared/http/definition/reply.ts';
import { workerTask } from '../../../shared/process/worker-task.ts';
import { unreadableConfig } from '../../../shared/training/stored-text.ts';

const mediaTypes = [
  'application/json',
  'image/svg+xml',
  'text/vnd.mermaid',
  'text/vnd.graphviz',
] as const satisfies readonly GraphForm[];

/** Response of an operation that returns the graph of a configuration. */
export const graphOutput = { 200: content(mediaTypes, ConfigGraph) };

export const graphDescription =
  'Returns a pipeline of stages, the layers of a model, or the structure of the document with its references. `Accept` selects JSON, a drawing (SVG), Mermaid or Graphviz.';

/** Return the graph of a configuration in the form that `Accept` prefers. @throws ServiceError 413, 503 */
export async function answerGraph(config: ConfigText, accept: string | undefined, version: number) {
  const form = preferredMediaType(accept, mediaTypes);
  const text = await writeConfigGraph({ ...config, form });
  const mediaType = form === 'application/json' ? form : `${form}; charset=utf-8`;
  return Reply.content(mediaType, text, { headers: { Vary: 'Accept' }, version });
}

const renderers = {
  'text/vnd.mermaid': renderMermaid,
  'text/vnd.graphviz': renderGraphviz,
} as const;

/** Media types of a graph. */
type GraphForm = keyof typeof renderers | 'image/svg+xml' | 'application/json';

/** Render the graph. The thread also serializes JSON; the endpoint's schema allows everything in it. */
async function drawGraph({ form, ...config }: ConfigText & { form: GraphForm }): Promise<string> {
  const graph = buildConfigGraph(config.config_id, parseConfigFile(config.config_id, config.content));
  if (form === 'application/json') return JSON.stringify(graph);
  if (form !== 'image/svg+xml') return renderers[form](graph);
  // Load the layout code with the first drawing.
  const { renderSvg } = await import('../../../shared/config/graph/draw/render-svg.ts');
  return renderSvg(graph);
}

type Written = { text: string } | { fault: string };

async function writeGraph(input: ConfigText & { form: GraphForm }): Promise<Written> {
  try {
    return { text: await drawGraph(input) };
  } catch (error) {
    if (error instanceof ConfigSyntaxError) return { fault: error.message };
    throw error;
  }
}

const writeOnThread = workerTask({
  module: import.meta.url,
  name: 'write-graph',
  run: writeGraph,
  keyOf: ({ form, ...config }) => `${form}\n${configKey(config)}`,
  sizeOf: (written) => ('text' in written ? 2 * written.text.length : 1000),
  tooHeavy:
    'The graph of this configuration is too dense to draw in time. Request it with Accept: application/json, text/vnd.mermaid or text/vnd.graphviz, or split the configuration.',
});

/**
 * Write the graph of a configuration in a form. A thread makes every drawing, and any form of a large file.
 * @throws ServiceError 409, 413, 503
 */
async function writeConfigGraph(input: ConfigText & { form: GraphForm }): Promise<string> {
  const isSmall = input.form !== 'image/svg+xml' && input.content.length <= maxSmall;
  const written = await (isSmall ? writeGraph(input) : writeOnThread(input));
  if ('fault' in written) throw unreadableConfig(input.config_id, written.fault);
  return written.text;
}
