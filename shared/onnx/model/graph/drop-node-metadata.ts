import type { Graph } from './graph.ts';

/**
 * Drop the documentation and metadata of nodes and values, control flow bodies included. PyTorch's exporter writes
 * stack traces with paths of the author's machine there, about 2 kB a node. Those of the model stay.
 */
export function dropNodeMetadata(root: Graph): void {
  for (const { proto } of root.all()) {
    for (const one of [...proto.node, ...proto.input, ...proto.output, ...proto.valueInfo]) {
      one.docString = '';
      one.metadataProps = [];
    }
  }
}
