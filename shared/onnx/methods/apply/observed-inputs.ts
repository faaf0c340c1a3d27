import type { Model } from '../../model/file/model.ts';
import type { PruneRequest } from '../../strategies/prune-request.ts';
import type { PruneStrategy, PruningByStatistics } from '../../strategies/prune-strategies.ts';
import type { ObservedInput } from '../calibrate/input-statistics.ts';
import { pruningInputs } from '../prune/reconstruct/pruning-inputs.ts';
import { updateInputs } from '../prune/update-pruning.ts';

type Inputs = (model: Model, request: PruneRequest) => ObservedInput[];

const updating =
  (strategy: 'sparsegpt' | 'sparsegpt_2_4'): Inputs =>
  (model, request) =>
    updateInputs(model, { ...request, strategy });

const inputs: Readonly<Record<PruningByStatistics, Inputs>> = {
  sparsegpt: updating('sparsegpt'),
  sparsegpt_2_4: updating('sparsegpt_2_4'),
  structured_reconstruct: (model, { exclude }) => pruningInputs(model, exclude),
};
const isNamed = (strategy: PruneStrategy): strategy is PruningByStatistics => Object.hasOwn(inputs, strategy);

/** The values whose statistics a pruning needs. @throws ModelError where it has nothing to prune */
export function observedInputs(model: Model, request: PruneRequest): ObservedInput[] {
  return isNamed(request.strategy) ? inputs[request.strategy](model, request) : [];
}
