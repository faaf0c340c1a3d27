import type { OptimizationRequest } from '../../strategies/optimization-request.ts';
import { strategyFacts } from '../../strategies/optimization-request.ts';

/** First opsets with scales per channel and with LayerNormalization. */
const perChannel = 13;
const layerNormalization = 17;

/** Return the best opset for a request, and the one that it requires. Undefined if any opset will do. */
export function opsetWanted(
  request: OptimizationRequest,
  operators: Readonly<Record<string, number>>,
): { best: number; least: number } | undefined {
  const { minOpset = 0 } = strategyFacts(request);
  const isAuto = request.strategy === 'auto';
  if (request.operation === 'quantize')
    return minOpset > 0 || isAuto ? { best: perChannel, least: minOpset } : undefined;
  // Only fusion adds an operator that needs a newer opset.
  const isFused = request.strategy === 'optimize' || isAuto;
  const mayNormalize = ['Div', 'Sqrt', 'ReduceMean'].every((name) => (operators[name] ?? 0) > 0);
  return isFused && mayNormalize ? { best: layerNormalization, least: 0 } : undefined;
}
