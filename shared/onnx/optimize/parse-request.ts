import type { Judged } from '../methods/judge.ts';
import { judgePruning, type PruneRequest } from '../methods/prune-methods.ts';
import { judgeQuantization, type QuantizeRequest } from '../methods/quantize-methods.ts';
import { ModelFault } from '../model-fault.ts';

function accepted<T>(judged: Judged<T>): T {
  if ('request' in judged) return judged.request;
  throw new ModelFault(`${judged.faults.map(({ name, message }) => `${name} ${message}`).join('; ')}.`);
}

/**
 * A request of either kind with every default filled in.
 *
 * @throws ModelFault naming everything that is not allowed
 */
export function parseRequest(values: Readonly<Record<string, unknown>>): PruneRequest | QuantizeRequest {
  return values['operation'] === 'prune'
    ? accepted(judgePruning(values))
    : accepted(judgeQuantization(values));
}
