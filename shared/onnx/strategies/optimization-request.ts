import { checkPruning, type PruneRequest } from './prune-request.ts';
import { pruneFacts } from './prune-strategies.ts';
import { checkQuantization, type QuantizeRequest } from './quantize-request.ts';
import { type CalibratedStrategy, quantizeFacts } from './quantize-strategies.ts';
import type { StrategyFacts } from './strategy-facts.ts';

/** A pruning or quantization request with every default filled in. */
export type OptimizationRequest = PruneRequest | QuantizeRequest;

/** Request validator of each operation. */
export const checkRequest = { prune: checkPruning, quantize: checkQuantization };

/** Return the facts of a request's strategy. */
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
 * Whether a request uses the ranges of all values to find overflow in half precision. Without a calibration set it
 * does not look for overflow: generated inputs say little about the size of values.
 */
export const looksForOverflow = (request: OptimizationRequest): boolean =>
  request.operation === 'quantize' && request.strategy === 'float16';

/** Whether the model runs before its transformation, usually on a calibration set. */
export const isCalibrated = (request: OptimizationRequest): boolean =>
  needsRanges(request) || needsStatistics(request);
