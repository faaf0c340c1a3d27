import type { StageAnswer } from '../../measure/session/stage-answers.ts';
import { agreementText } from '../../receipt/agreement-text.ts';
import { errorText } from '../../receipt/amount-text.ts';
import { usefulAgreement, uselessError } from '../../receipt/receipt.ts';
import type { OptimizationRequest } from '../../strategies/optimization-request.ts';
import { keepsAll } from '../../strategies/prune-strategies.ts';
import type { QuantizeRequest } from '../../strategies/quantize-request.ts';
import { quantizeFacts } from '../../strategies/quantize-strategies.ts';
import { lossMeasure, lossOf, worstError } from './run-trial.ts';

/** Facts that suggestions depend on. */
interface Outcome {
  request: OptimizationRequest;
  hasCalibration: boolean;
  hasEvaluation: boolean;
  operators: Readonly<Record<string, number>>;
  /** ONNX opset of the result. */
  opset: number;
  /** The changed layers. */
  layers: readonly { layer: string; operator: string; error: number | null }[];
  compare: Pick<StageAnswer<'compare'>, 'outputs' | 'accuracy' | 'agreement' | 'data'> | null;
  latency: StageAnswer<'time'>['latency'];
}

/**
 * Suggest options with a smaller loss after a result with too large a loss, most promising first. Suggests only
 * options that this model and method support.
 */
export const remediesFor = (outcome: Outcome): string[] =>
  outcome.request.operation === 'quantize' ? gentler(outcome.request, outcome) : gentlerPruning(outcome);

/** The first opset with per-channel scales. */
const perChannelOpset = 13;

const maxError = 0.05;

/** Block sizes of a request without one, and with the smallest loss. */
const [usualBlockSize, leastBlockSize] = [32, 16];

/** Other methods of about the same size that lose less. */
function gentler(request: QuantizeRequest, outcome: Outcome): string[] {
  const { operators, hasCalibration, opset, layers } = outcome;
  const { strategy, smooth_alpha, inputs_only, max_error, precision } = request;
  const isStatic = strategy.startsWith('static_');
  const isTransformer = (operators['MatMul'] ?? 0) > 0 && (operators['Conv'] ?? 0) === 0;
  const withSet = hasCalibration ? '' : ' and a calibration set';
  const found: string[] = [];
  const takesChannels = quantizeFacts(strategy).combinations.some(
    (combination) => combination.precision === precision && combination.perChannel !== undefined,
  );
  const hasChannels = isStatic
    ? opset >= perChannelOpset
    : layers.some(({ operator }) => operator !== 'Conv' && operator !== 'Gather');
  if (takesChannels && hasChannels && !request.per_channel)
    found.push('per_channel=true: a scale for each output channel of a weight.');
  if (isStatic && !hasCalibration)
    found.push('a calibration set: the ranges of activations come from generated inputs.');
  if (strategy === 'dynamic' && smooth_alpha === null && isTransformer)
    found.push(`smooth_alpha=0.7${withSet}: activations of transformers have a few large channels.`);
  if (isStatic && !inputs_only && isTransformer)
    found.push('inputs_only=true: sums and normalizations of transformers need more than 8 bits.');
  if ((strategy === 'weight_only' || strategy === 'weight_only_mse') && precision === 4)
    found.push(`strategy=gptq${withSet}: the same size, with rounding that fits the inputs of the layers.`);
  if ((strategy === 'gptq' || strategy === 'awq') && request.quant_type === 'int4')
    found.push('quant_type=uint4: a zero point for each block, for 2 % more bytes.');
  if (
    quantizeFacts(strategy).combinations.some(
      (combination) => combination.mixes && combination.precision === precision,
    )
  ) {
    if ((request.block_size ?? usualBlockSize) > leastBlockSize)
      found.push(`block_size=${leastBlockSize}: more scales, for a bit more for each weight.`);
    if (request.mean_bits === null)
      found.push('mean_bits=5: the layers that lose the most are stored in 8 bits.');
  }
  if (strategy !== 'auto' && max_error === null && new Set(layers.map(({ layer }) => layer)).size > 1) {
    const bound = isStatic && isTransformer ? 0.015 : maxError;
    found.push(`max_error=${bound}: measures each layer and keeps the most sensitive ones in float.`);
  }
  if (precision === 4 && strategy !== 'auto') found.push('precision=8: blocks of 8 bits.');
  if (precision === 8 && (isStatic || strategy === 'dynamic') && hasProducts(outcome))
    found.push('strategy=weight_only with precision=8: activations stay float.');
  if (strategy === 'auto') found.push('a smaller max_loss.');
  else found.push(...namedLayers(outcome), 'strategy=auto: every method within a max_loss.');
  return found;
}

/** Whether the model has matrix products that support 8-bit weight blocks with float activations. */
const hasProducts = ({ layers }: Outcome): boolean =>
  layers.some(({ operator }) => operator === 'MatMul' || operator === 'Gemm');

/** Maximum number of layers that a suggestion names for exclusion. */
const maxNamed = 3;

/**
 * Return the layers with the largest weight change, in the syntax of `exclude`. Empty if no other layers would
 * remain.
 */
function namedLayers({ request, layers }: Outcome): string[] {
  const errors = new Map<string, number>();
  for (const { layer, error } of layers) errors.set(layer, Math.max(errors.get(layer) ?? 0, error ?? 0));
  const names = [...errors]
    .filter(([layer, error]) => error > 0 && !layer.includes(',') && !request.exclude.includes(layer))
    .sort(([, a], [, b]) => b - a)
    .slice(0, maxNamed)
    .map(([layer]) => layer);
  if (names.length === 0 || names.length >= errors.size) return [];
  const all = [...request.exclude, ...names].join(',');
  return [`exclude=${all}: leaves the layers with the largest weight change unchanged.`];
}

function gentlerPruning({ request, hasCalibration, layers }: Outcome): string[] {
  if (request.operation !== 'prune') return [];
  const { strategy, compression } = request;
  const isStructured = ['structured_l1', 'structured_l2', 'random'].includes(strategy);
  const withSet = hasCalibration ? '' : ' with a calibration set';
  return [
    ...(isStructured
      ? [`strategy=structured_reconstruct${withSet}: the remaining channels compensate for the removed ones.`]
      : []),
    ...(strategy.startsWith('magnitude_') && layers.some(({ operator }) => operator !== 'Conv')
      ? [`strategy=sparsegpt${withSet}: the remaining weights compensate for the removed ones.`]
      : []),
    ...(compression > 1 ? ['A lower compression, or further training from the result.'] : []),
    ...(strategy === 'auto' ? ['a smaller max_loss.'] : []),
  ];
}

/** Losses of accuracy and of an output above which another attempt is worthwhile. */
const maxLoss = 0.01;

/**
 * Suggest options for a better result, most promising first. Empty if there is nothing to gain or nothing was
 * measured.
 */
export function suggestionsFor(outcome: Outcome): string[] {
  const { request, compare, hasEvaluation, latency } = outcome;
  if (compare === null) return [];
  const suggestions: string[] = [];
  const isLost =
    lossMeasure(compare) === 'error' ? worstError(compare).error > maxError : lossOf(compare) > maxLoss;
  if (isLost) suggestions.push(...remediesFor(outcome));
  if (request.operation === 'prune' && keepsAll(request.strategy, request.compression))
    suggestions.push('compression=2 or more: 1 keeps all weights.');
  if (!hasEvaluation)
    suggestions.push('An evaluation set with labels: output errors say little about accuracy.');
  if (latency !== null && latency.ratio > 1.05 && request.operation === 'quantize')
    suggestions.push('goal=latency with strategy=auto: this result is slower than the model.');
  return suggestions;
}

type Compared = Pick<StageAnswer<'compare'>, 'outputs' | 'agreement' | 'data' | 'accuracy'>;

/**
 * Return the reason why a result is useless: its distance from the model's outputs on a given set. Synthetic
 * inputs prove nothing. Undefined if it is useful or unknown.
 */
export function uselessness(compare: Compared | null): string | undefined {
  if (compare === null || compare.data.source === 'synthetic') return undefined;
  const { outputs, agreement, data } = compare;
  const worst = outputs.reduce<{ name: string; error: number }>(
    (most, { name, relative_l2_error: error }) =>
      (error ?? 0) > most.error ? { name, error: error ?? 0 } : most,
    { name: '', error: 0 },
  );
  const faults = [
    ...(worst.error > uselessError
      ? [
          `the output ${JSON.stringify(worst.name)} has a relative error of ${errorText(worst.error)} (above ${uselessError})`,
        ]
      : []),
    ...(agreement !== null && agreement.share < usefulAgreement
      ? [`it agrees with the model on ${agreementText(agreement)} (below ${usefulAgreement})`]
      : []),
  ];
  if (faults.length === 0) return undefined;
  return `THE RESULT IS USELESS: over ${data.samples} samples of the ${data.source} set ${faults.join(', and ')}.`;
}

/** State the quality of a result without labels; undefined if there are labels, or nothing that models agree on. */
export function agreementLine(compare: Compared | null): string | undefined {
  if (compare === null || compare.accuracy !== null || compare.agreement === null) return undefined;
  const { agreement, data } = compare;
  const on =
    data.source === 'synthetic' ? 'generated inputs' : `samples of the ${data.source} set, without labels`;
  return `Agrees with the model on ${agreementText(agreement)} (${data.samples} ${on}).`;
}

/** Maximum number of remedies in the first line of a receipt. The suggestions list the others. */
const maxTried = 4;

/** Build the first line of a receipt with a useless result, including remedies. */
export function uselessLine(why: string, remedies: readonly string[]): string {
  if (remedies.length === 0) return why;
  const tried = remedies.slice(0, maxTried).map((remedy) => remedy.replace(/:.*$|\.$/s, ''));
  return `${why} Try ${tried.join('; ')}.`;
}
