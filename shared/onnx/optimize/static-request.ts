import type { StaticStrategy } from '../calibrate/make-collector.ts';
import type { PruneRequest } from '../methods/prune-methods.ts';
import type { QuantizeRequest } from '../methods/quantize-methods.ts';

/** A quantization that needs the ranges of activations. */
export function isStaticRequest(
  request: PruneRequest | QuantizeRequest,
): request is QuantizeRequest & { strategy: StaticStrategy } {
  return request.strategy.startsWith('static_');
}
