import type { ConfigGraphKind, ConfigGraphNode } from '../config-graph.ts';

/** Describe a node in one line: its label, with the value of a scalar or the type of a layer. */
export function nodeText(kind: ConfigGraphKind, { label, type, attributes }: ConfigGraphNode): string {
  if (kind === 'structure')
    return attributes['value'] === undefined ? label : `${label}: ${attributes['value']}`;
  return kind === 'layers' && type !== label ? `${label}: ${type}` : label;
}
