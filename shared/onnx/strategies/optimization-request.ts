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
export const isCalibrated = (request: OptimizationRequest): request is CalibratedRequest =>
  strategyFacts(request).isCalibrated === true;
