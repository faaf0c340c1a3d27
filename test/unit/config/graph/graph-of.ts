import { buildConfigGraph } from '../../../../shared/config/graph/build-config-graph.ts';
import { ConfigGraph } from '../../../../shared/config/graph/config-graph.ts';
import { parseConfigFile } from '../../../../shared/config/parse-config-file.ts';

/**
 * The graph of a text, as a client would get it: through its schema and JSON.
 * References are written `§{a.b}` here and in `arrows`, since the linter takes `${…}` in a string for a mistake.
 */
export function graphOf(text: string, name = 'a.yaml'): ConfigGraph {
  return ConfigGraph.parse(
    JSON.parse(JSON.stringify(buildConfigGraph(name, parseConfigFile(name, text.replaceAll('§', '$'))))),
  );
}

/** Edges as `source > target` or `source > target: label`. */
export function arrows({ edges }: ConfigGraph): string[] {
  return edges.map(
    ({ source, target, label }) => `${source} > ${target}${label && `: ${label.replaceAll('$', '§')}`}`,
  );
}
