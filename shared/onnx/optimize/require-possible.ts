import type { PruneRequest } from '../methods/prune-methods.ts';
import type { QuantizeRequest } from '../methods/quantize-methods.ts';
import type { Model } from '../model/model.ts';
import { requireOpset } from '../quantize/require-opset.ts';
import { requireKnown } from '../transform/require-known.ts';
import { isStaticRequest } from './static-request.ts';

/**
 * Refuses what a model cannot have done to it, as far as its structure tells that without transforming it. What a
 * transformation finds out is found before any session runs, too: by itself, or by the plan of what is calibrated.
 * Answers what the owner should know though nothing is wrong.
 *
 * @throws ModelFault for names that the model does not have, and for an operator set that is too old
 */
export function requirePossible(model: Model, request: PruneRequest | QuantizeRequest): string[] {
  const absent = requireKnown(model.graph, request.exclude);
  if (isStaticRequest(request)) requireOpset(model, 'static');
  if (request.strategy === 'dynamic') requireOpset(model, 'dynamic');
  return absent.map((operator) => `exclude names ${operator}, of which the model has none.`);
}
