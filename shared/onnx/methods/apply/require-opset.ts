import type { Model } from '../../model/file/model.ts';
import { ModelError } from '../../model/model-error.ts';
import { type OptimizationRequest, strategyFacts } from '../../strategies/optimization-request.ts';

/**
 * Refuse a model whose operator set is too old for a strategy, where it could not be raised before.
 *
 * @throws ModelError naming the one that is needed
 */
export function requireOpset(model: Pick<Model, 'opset'>, request: OptimizationRequest): void {
  const { minOpset } = strategyFacts(request);
  const own = model.opset();
  if (minOpset === undefined || own >= minOpset) return;
  throw new ModelError(
    `${request.strategy} needs opset ${minOpset} or higher; the model has ${own}. Export it anew, or use weight_only.`,
  );
}
