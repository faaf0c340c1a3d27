import type { Model } from '../model/model.ts';
import type { OptimizationRequest } from '../strategies/optimization-request.ts';
import { requireKnown } from '../transform/require-known.ts';
import { requireOpset } from './require-opset.ts';

/**
 * Refuses what a model cannot have done to it, as far as its structure tells that without transforming it. What a
 * transformation finds out is found before any session runs, too: by itself, or by the plan of what is calibrated.
 * Answers what the owner should know though nothing is wrong.
 *
 * @throws ModelError for names that the model does not have, and for an operator set that is too old
 */
export function requirePossible(model: Model, request: OptimizationRequest): string[] {
  const absent = requireKnown(model.graph, request.exclude);
  requireOpset(model, request);
  return absent.map((operator) => `exclude names ${operator}, of which the model has none.`);
}
