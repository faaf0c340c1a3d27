import type { Model } from '../model/model.ts';
import { makeStaticPlan } from './make-static-plan.ts';
import type { StaticRequest } from './static-operators.ts';

/**
 * Names of the float activations of a prepared model (see `prepareStatic`) whose ranges `quantizeStatic` needs for this
 * request. Inputs of the model may be among them.
 */
export function calibrationTargets(model: Model, request: StaticRequest): string[] {
  const { plan, ranges } = makeStaticPlan(model, request);
  return [...plan.activations.values()]
    .filter(({ name, sharedWith }) => sharedWith === undefined && !ranges.has(name))
    .map(({ name }) => name);
}
