import { checkPruning, type PruneRequest } from './prune-request.ts';
import { pruneFacts } from './prune-strategies.ts';
import { checkQuantization, type QuantizeRequest } from './quantize-request.ts';
import { type CalibratedStrategy, quantizeFacts } from './quantize-strategies.ts';
import type { StrategyFacts } from './strategy-facts.ts';

/** A pruning or a quantization to be done, with every default filled in. */
export type OptimizationRequest = PruneRequest | QuantizeRequest;

/** How the requests of each operation are checked. */
export const checkRequest = { prune: checkPruning, quantize: checkQuantization };

/** Facts of the strategy of a request. */
export const strategyFacts = (request: OptimizationRequest): StrategyFacts =>
  request.operation === 'prune' ? pruneFacts(request.strategy) : quantizeFacts(request.strategy);

/** A request that needs the ranges of activations. */
export type CalibratedRequest = QuantizeRequest & { strategy: CalibratedStrategy };

/** Whether a request needs the ranges of activations. */
export const needsRanges = (request: OptimizationRequest): request is CalibratedRequest =>
  strategyFacts(request).isCalibrated === true;

/** Whether a request needs the statistics of the inputs of layers. */
export const needsStatistics = (request: OptimizationRequest): boolean =>
  strategyFacts(request).usesStatistics === true ||
  (request.operation === 'quantize' && (request.smooth_alpha !== null || request.bias_correction));

/**
 * Whether a request is told by the ranges of all values what half precision cannot hold. It does without them where there
 * is no calibration set: made-up inputs say little of how large values get.
 */
export const looksForOverflow = (request: OptimizationRequest): boolean =>
  request.operation === 'quantize' && request.strategy === 'float16';

/** Whether the model is run before it is transformed, on a calibration set as a rule. */
export const isCalibrated = (request: OptimizationRequest): boolean =>
  needsRanges(request) || needsStatistics(request);
