import type { ParsedConfig } from '../parse-config-file.ts';
import type { ConfigGraph } from './config-graph.ts';
import { findLayers } from './find-layers.ts';
import { findStages } from './find-stages.ts';
import { layersGraph } from './layers-graph.ts';
import { pipelineGraph } from './pipeline-graph.ts';
import { structureGraph } from './structure-graph.ts';

/**
 * Build the graph of a configuration: of its stages if it describes a pipeline, else of its model's layers, else
 * of the document itself. The time is linear in the size of the document. Every edge connects existing nodes.
 */
export function buildConfigGraph(configId: string, parsed: ParsedConfig): ConfigGraph {
  const stages = findStages(parsed.data);
  if (stages !== undefined) return pipelineGraph(stages).finish(configId, 'pipeline');
  const layers = findLayers(parsed.data);
  if (layers !== undefined) return layersGraph(layers).finish(configId, 'layers');
  return structureGraph(configId, parsed).finish(configId, 'structure');
}
