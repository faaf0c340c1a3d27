import type { Graph } from '../../model/graph/graph.ts';
import type { NodeProto } from '../../model/proto/onnx_pb.js';
import { elementCount } from '../../model/tensor/tensor.ts';
import { isFloatTensor } from '../../model/tensor/values.ts';
import type { PruneRequest } from '../../strategies/prune-request.ts';
import type { PrunedGroup } from '../report/pruning-outcome.ts';
import type { TransformReport } from '../report/report.ts';

/** Record the outcome of a pruning in the report. `left` counts the prunable parameters before and after it. */
export function recordOutcome(
  report: TransformReport,
  { strategy, compression }: Pick<PruneRequest, 'strategy' | 'compression'>,
  left: { before: number; after: number; modelBefore: number; modelAfter: number },
  groups: PrunedGroup[] = [],
): void {
  report.pruning = {
    strategy,
    compression,
    prunable_before: left.before,
    prunable_after: left.after,
    reached: ratio(left.before, left.after),
    model_before: left.modelBefore,
    model_after: left.modelAfter,
    model_ratio: ratio(left.modelBefore, left.modelAfter),
    groups,
  };
}

const ratio = (before: number, after: number): number => (after === 0 ? 1 : before / after);

/** Count the elements of all floating-point constants, control flow bodies included. */
export function floatParameters(root: Graph): number {
  let count = 0;
  for (const graph of root.all())
    for (const tensor of graph.initializers.values())
      if (isFloatTensor(tensor)) count += elementCount(tensor.dims);
  return count;
}

/** Report that a compression of 1 keeps everything. */
export function recordNoChange(
  report: TransformReport,
  request: Pick<PruneRequest, 'strategy' | 'compression'>,
  prunable: number,
  model: number,
): void {
  report.notes.push('A compression of 1 keeps every weight, so nothing was changed.');
  recordOutcome(report, request, {
    before: prunable,
    after: prunable,
    modelBefore: model,
    modelAfter: model,
  });
}

/** Return the name of a node. If it has no name, return that of its first output. */
export const layerName = ({ name, output, opType }: NodeProto): string => name || output[0] || opType;
