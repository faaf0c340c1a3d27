import type { Model } from '../../model/file/model.ts';
import { Names } from '../../model/graph/graph.ts';
import type { PruneRequest } from '../../strategies/prune-request.ts';
import type { PruneStrategy, PruningByStatistics } from '../../strategies/prune-strategies.ts';
import type { ObservedInput } from '../calibrate/statistics-file.ts';
import { pruningInputs } from '../prune/reconstruct/pruning-inputs.ts';
import { widenStored } from '../prune/stored-casts.ts';
import { updateInputs } from '../prune/update-pruning.ts';
import { tiedNames, tiedTables } from '../quantize/dynamic/tied-tables.ts';
import { outputNames } from '../quantize/float-tables.ts';
import type { StaticRequest } from '../quantize/static/static-operators.ts';
import { makeStaticPlan, nothingToQuantize } from '../quantize/static/static-plan.ts';
import { orAlreadyQuantized } from '../report/already-quantized.ts';

/**
 * Return the names of the float activations of a prepared model (see `prepareStatic`) whose ranges
 * `quantizeStatic` needs for this request. They may include inputs of the model.
 *
 * @throws ModelError if there is nothing to quantize. This is known before the model runs.
 */
export function calibrationTargets(model: Model, request: StaticRequest): string[] {
  const tables = tiedTables(model.graph, new Names(model.graph), request.exclude);
  const tied = tiedNames(model.graph, tables);
  const { plan, ranges } = makeStaticPlan(model, {
    ...{ ...request, tied },
    outputs: outputNames(model.graph),
  });
  if (plan.constants.length === 0 && tied.size === 0)
    return orAlreadyQuantized(model.graph, () => {
      throw nothingToQuantize(model);
    });
  return [...plan.activations.values()]
    .filter(({ name, sharedWith }) => sharedWith === undefined && !ranges.has(name))
    .map(({ name }) => name);
}

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

/**
 * Return the inputs whose statistics a pruning needs. Empty if it needs none.
 *
 * @throws ModelError if there is nothing to prune
 */
export function observedInputs(model: Model, request: PruneRequest): ObservedInput[] {
  if (!isNamed(request.strategy)) return [];
  widenStored(model.graph);
  return inputs[request.strategy](model, request);
}

const isNamed = (strategy: PruneStrategy): strategy is PruningByStatistics => Object.hasOwn(inputs, strategy);
