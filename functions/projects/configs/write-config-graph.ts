import { ConfigSyntaxError } from '../../../shared/config/config-syntax-error.ts';
import { buildConfigGraph } from '../../../shared/config/graph/build-config-graph.ts';
import { renderGraphviz } from '../../../shared/config/graph/draw/render-graphviz.ts';
import { renderMermaid } from '../../../shared/config/graph/draw/render-mermaid.ts';
import { type ConfigText, configKey, maxSmall } from '../../../shared/config/parse-config.ts';
import { parseConfigFile } from '../../../shared/config/parse-config-file.ts';
import { workerTask } from '../../../shared/process/worker-task.ts';
import { unreadableConfig } from './unreadable-config.ts';

const renderers = {
  'text/vnd.mermaid': renderMermaid,
  'text/vnd.graphviz': renderGraphviz,
} as const;

/** Media types of a graph that are texts. */
export type GraphForm = keyof typeof renderers | 'image/svg+xml' | 'application/json';

/** JSON is written on the thread too; the endpoint's schema allows all that it holds. */
async function drawGraph({ form, ...config }: ConfigText & { form: GraphForm }): Promise<string> {
  const graph = buildConfigGraph(config.config_id, parseConfigFile(config.config_id, config.content));
  if (form === 'application/json') return JSON.stringify(graph);
  if (form !== 'image/svg+xml') return renderers[form](graph);
  // The layout code is loaded with the first drawing.
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
    'The graph of this configuration is too dense to be drawn in time. Ask for it by Accept as application/json, text/vnd.mermaid or text/vnd.graphviz, or split the configuration.',
});

/** The graph of a configuration in a form: every drawing, and any form of a large file, is made on a thread. @throws ServiceError 409, 413, 503 */
export async function writeConfigGraph(input: ConfigText & { form: GraphForm }): Promise<string> {
  const isSmall = input.form !== 'image/svg+xml' && input.content.length <= maxSmall;
  const written = await (isSmall ? writeGraph(input) : writeOnThread(input));
  if ('fault' in written) throw unreadableConfig(input.config_id, written.fault);
  return written.text;
}
