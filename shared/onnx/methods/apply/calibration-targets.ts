import type { Model } from '../../model/file/model.ts';
import { makeStaticPlan, nothingToQuantize } from '../quantize/static/make-static-plan.ts';
import type { StaticRequest } from '../quantize/static/static-operators.ts';

/**
 * Names of the float activations of a prepared model (see `prepareStatic`) whose ranges `quantizeStatic` needs for this
 * request. Inputs of the model may be among them.
 *
 * @throws ModelError where there is nothing to quantize: known before the model is run
 */
export function calibrationTargets(model: Model, request: StaticRequest): string[] {
  const { plan, ranges } = makeStaticPlan(model, request);
  if (plan.constants.length === 0) throw nothingToQuantize(model);
  return [...plan.activations.values()]
    .filter(({ name, sharedWith }) => sharedWith === undefined && !ranges.has(name))
    .map(({ name }) => name);
}
