import type { Model } from '../../../model/file/model.ts';
import { unfoldEinsum } from '../../../model/graph/unfold-einsum.ts';
import type { ObservedInput } from '../../calibrate/statistics-file.ts';
import { preparePruning } from '../prepare-pruning.ts';
import { buildDependencyGraph } from '../structured/build-dependency-graph.ts';
import { channelGroups } from '../structured/channel-groups.ts';
import { consumersOf } from './channel-rows.ts';

/** Maximum number of channels for a second moment, which takes 8 · channels² bytes. */
export const maxChannels = 8192;

/**
 * Return the values whose channels `structured_reconstruct` may remove, in the form of a statistics request. Empty
 * if nothing can be removed. Views of constants in the model become constants, as in pruning.
 */
export function pruningInputs(model: Model, exclude: readonly string[]): ObservedInput[] {
  unfoldEinsum(model.graph, exclude);
  preparePruning(model, exclude);
  const dependencies = buildDependencyGraph(model, exclude);
  if (channelGroups(dependencies).count === 0) return [];
  return consumersOf(dependencies).map(({ input, node, labels }) => ({
    name: input,
    axis: node.opType === 'Conv' ? 1 : -1,
    channels: labels.length,
    hasMoment: labels.length <= maxChannels,
  }));
}
