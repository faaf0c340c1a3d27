import type { Model } from '../../model/file/model.ts';
import type { OptimizationRequest } from '../../strategies/optimization-request.ts';
import type { ObservedInput } from '../calibrate/statistics-file.ts';
import { orAlreadyQuantized } from '../report/already-quantized.ts';
import { observedInputs } from './calibration-targets.ts';
import { quantizationInputs } from './quantization-inputs.ts';

/**
 * Return the values whose statistics a request needs, each once. The model must be as read.
 *
 * @throws ModelError if there is nothing to prune or quantize. This is known before the model runs.
 */
export function wantedStatistics(model: Model, request: OptimizationRequest): ObservedInput[] {
  const all =
    request.operation === 'prune'
      ? observedInputs(model, request)
      : orAlreadyQuantized(model.graph, () => quantizationInputs(model, request));
  const byName = new Map<string, ObservedInput>();
  for (const input of all) {
    const hasMoment = input.hasMoment || byName.get(input.name)?.hasMoment === true;
    byName.set(input.name, { ...input, hasMoment });
  }
  return [...byName.values()];
}
