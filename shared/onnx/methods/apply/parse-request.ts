import { ModelError } from '../../model/model-error.ts';
import { checkRequest, type OptimizationRequest } from '../../strategies/optimization-request.ts';

/**
 * Check a request and fill in every default.
 *
 * @throws ModelError that names every value that is not allowed
 */
export function parseRequest(values: Readonly<Record<string, unknown>>): OptimizationRequest {
  const checked = checkRequest[values['operation'] === 'prune' ? 'prune' : 'quantize'](values);
  if ('request' in checked) return checked.request;
  throw new ModelError(`${checked.faults.map(({ name, message }) => `${name} ${message}`).join('; ')}.`);
}
