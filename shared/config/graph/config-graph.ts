import * as z from 'zod';

const NodeId = z.string();

/** Interpretation of a configuration: stages, layers of a model, or the plain document. */
export const ConfigGraphKind = z.enum(['pipeline', 'layers', 'structure']);
export type ConfigGraphKind = z.infer<typeof ConfigGraphKind>;

const ConfigGraphNode = z.object({
  id: NodeId,
  label: z.string(),
  type: z.string(),
  attributes: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
});
export type ConfigGraphNode = z.infer<typeof ConfigGraphNode>;

const ConfigGraphEdge = z.object({ source: NodeId, target: NodeId, label: z.string() });
export type ConfigGraphEdge = z.infer<typeof ConfigGraphEdge>;

/** Graph of a configuration. `roots` have no incoming edge. `cycles` are the strongly connected sets of nodes. */
export const ConfigGraph = z.object({
  config_id: z.string(),
  kind: ConfigGraphKind,
  nodes: z.array(ConfigGraphNode),
  edges: z.array(ConfigGraphEdge),
  roots: z.array(NodeId),
  cycles: z.array(z.array(NodeId)),
});
export type ConfigGraph = z.infer<typeof ConfigGraph>;
