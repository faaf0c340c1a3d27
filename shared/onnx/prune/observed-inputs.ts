import type { ObservedInput } from '../calibrate/input-statistics.ts';
import type { Model } from '../model/model.ts';
import type { PruneRequest } from '../strategies/prune-request.ts';
import { pruningInputs } from './reconstruct/pruning-inputs.ts';
import { updateInputs } from './update/update-pruning.ts';

/** The values whose statistics a pruning needs. @throws ModelError where it has nothing to prune */
export function observedInputs(model: Model, request: PruneRequest): ObservedInput[] {
  const { strategy } = request;
  if (strategy === 'structured_reconstruct') return pruningInputs(model, request.exclude);
  if (strategy === 'sparsegpt' || strategy === 'sparsegpt_2_4')
    return updateInputs(model, { ...request, strategy });
  return [];
}
