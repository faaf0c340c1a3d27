import type { Model } from '../../../model/file/model.ts';
import { foldBatchNorms } from '../../../model/graph/fold-batch-norm.ts';
import { Names } from '../../../model/graph/names.ts';
import type { CalibrationStatistics } from '../../calibrate/input-statistics.ts';
import { makePlain } from '../dynamic/plain-gemm.ts';
import { foldTransposes } from '../fold-transposes.ts';
import { prepareProducts } from '../prepare-products.ts';
import { minOpsetPerChannel } from './make-static-plan.ts';
import { isChosen, type StaticRequest } from './static-operators.ts';

/**
 * Brings a model into the form that static quantization starts from, which computes the same: BatchNormalization
 * folded into Conv, transposed constants as constants, Gemm without factors; equalized, smoothed and corrected as far as
 * the request asks. Returns notes; none when it was called before for a request without these.
 */
export function prepareStatic(
  model: Model,
  request: StaticRequest,
  statistics: CalibrationStatistics = new Map(),
): string[] {
  const folded = foldBatchNorms(model);
  foldTransposes(model.graph);
  const names = new Names(model.graph);
  model.graph.nodes = model.graph.nodes.flatMap((node) => {
    if (node.opType !== 'Gemm' || !isChosen(model, node, request)) return [node];
    if (model.graph.initializers.get(node.input[1] ?? '')?.type !== 'float') return [node];
    return [...(makePlain(model.graph, names, node) ?? []), node];
  });
  const mapping = { type: 'int8', symmetric: true, reduced: request.reduce_range } as const;
  const isPerChannel = request.per_channel && model.opset() >= minOpsetPerChannel;
  const notes = prepareProducts(model, request, { mapping, isPerChannel }, statistics);
  return folded === 0
    ? notes
    : [`${folded} BatchNormalization were folded into the Conv before them.`, ...notes];
}
