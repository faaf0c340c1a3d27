import { foldBatchNorms } from '../graph/fold-batch-norm.ts';
import { Names } from '../graph/names.ts';
import type { Model } from '../model/model.ts';
import { foldTransposes } from './fold-transposes.ts';
import { makePlain } from './plain-gemm.ts';
import { isChosen, type StaticRequest } from './static-operators.ts';

/**
 * Brings a model into the form that static quantization starts from, which computes the same: BatchNormalization
 * folded into Conv, transposed constants as constants, Gemm without factors. Returns how many BatchNormalizations
 * were folded; none when it was called before.
 */
export function prepareStatic(model: Model, request: StaticRequest): number {
  const folded = foldBatchNorms(model);
  foldTransposes(model.graph);
  const names = new Names(model.graph);
  model.graph.nodes = model.graph.nodes.flatMap((node) => {
    if (node.opType !== 'Gemm' || !isChosen(model, node, request)) return [node];
    if (model.graph.initializers.get(node.input[1] ?? '')?.type !== 'float') return [node];
    return [...(makePlain(model.graph, names, node) ?? []), node];
  });
  return folded;
}
