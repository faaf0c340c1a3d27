import type { OptimizationRequest } from '../../strategies/optimization-request.ts';
import { strategyFacts } from '../../strategies/optimization-request.ts';

/** Scales by channel, and LayerNormalization, are there from these versions on. */
const perChannel = 13;
const layerNormalization = 17;

/** The version of the operator set that a request does best with, and the one that it needs; undefined where any does. */
export function opsetWanted(
  request: OptimizationRequest,
  operators: Readonly<Record<string, number>>,
): { best: number; least: number } | undefined {
  const { minOpset = 0 } = strategyFacts(request);
  const isAuto = request.strategy === 'auto';
  if (request.operation === 'quantize')
    return minOpset > 0 || isAuto ? { best: perChannel, least: minOpset } : undefined;
  // Only fused graphs get operators that others do not have.
  const isFused = request.strategy === 'optimize' || isAuto;
  const mayNormalize = ['Div', 'Sqrt', 'ReduceMean'].every((name) => (operators[name] ?? 0) > 0);
  return isFused && mayNormalize ? { best: layerNormalization, least: 0 } : undefined;
}
