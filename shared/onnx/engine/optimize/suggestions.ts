import type { StageAnswer } from '../../measure/session/stage-answers.ts';
import type { OptimizationRequest } from '../../strategies/optimization-request.ts';
import { keepsAll } from '../../strategies/prune-strategies.ts';
import type { QuantizeRequest } from '../../strategies/quantize-request.ts';
import { lossOf, worstError } from './loss-of.ts';

/** What suggestions are made from. */
export interface Outcome {
  request: OptimizationRequest;
  hasCalibration: boolean;
  hasEvaluation: boolean;
  operators: Readonly<Record<string, number>>;
  compare: Pick<StageAnswer<'compare'>, 'outputs' | 'accuracy'> | null;
  latency: StageAnswer<'time'>['latency'];
}

/** Losses above these are worth another attempt: of accuracy, and of an output. */
const maxLoss = 0.01;
const maxError = 0.05;

/** Other methods of the same size that lose less. */
function gentler(request: QuantizeRequest, { operators, hasCalibration }: Outcome): string[] {
  const { strategy, smooth_alpha, inputs_only, max_error, precision } = request;
  const isTransformer = (operators['MatMul'] ?? 0) > 0 && (operators['Conv'] ?? 0) === 0;
  const withSet = hasCalibration ? '' : ' and a calibration set';
  const found: string[] = [];
  if (strategy === 'dynamic' && smooth_alpha === null && isTransformer)
    found.push(`smooth_alpha=0.7${withSet}: activations of transformers have a few large channels.`);
  if (strategy.startsWith('static_') && !inputs_only && isTransformer)
    found.push('inputs_only=true: sums and normalizations of transformers need more than 8 bits.');
  if (strategy.startsWith('static_') && max_error === null && isTransformer)
    found.push('max_error=0.015: what is most sensitive to 8 bits stays float, inputs of layers first.');
  if ((strategy === 'weight_only' || strategy === 'weight_only_mse') && precision === 4)
    found.push(`strategy=gptq${withSet}: the same size, chosen by what the layers take.`);
  if (strategy === 'gptq' && precision === 4)
    found.push('quant_type=uint4: a zero point for each block, for 2 % more bytes.');
  if (strategy !== 'auto') found.push('strategy=auto: every method within a max_loss.');
  return found;
}

/** What may give a better result, most likely first. Empty where there is nothing to gain, or nothing was measured. */
export function suggestionsFor(outcome: Outcome): string[] {
  const { request, compare, hasEvaluation, latency } = outcome;
  if (compare === null) return [];
  const suggestions: string[] = [];
  const isLost = compare.accuracy === null ? worstError(compare).error > maxError : lossOf(compare) > maxLoss;
  if (isLost && request.operation === 'quantize') suggestions.push(...gentler(request, outcome));
  if (isLost && request.operation === 'prune' && request.compression > 1)
    suggestions.push('A lower compression, or training on from the result.');
  if (request.operation === 'prune' && keepsAll(request.strategy, request.compression))
    suggestions.push('compression=2 or more: 1 keeps all weights.');
  if (!hasEvaluation)
    suggestions.push('An evaluation set with labels: errors of outputs tell little of the accuracy.');
  if (latency !== null && latency.ratio > 1.05 && request.operation === 'quantize')
    suggestions.push('goal=latency with strategy=auto: this result is slower than the model.');
  return suggestions;
}
