import type { CalibrationRanges } from '../calibrate/ranges.ts';
import type { PruneRequest } from '../methods/prune-methods.ts';
import type { QuantizeRequest } from '../methods/quantize-methods.ts';
import type { Model } from '../model/model.ts';
import { pruneModel } from '../prune/prune-model.ts';
import { convertToFloat16 } from '../quantize/float16.ts';
import { quantizeDynamic } from '../quantize/quantize-dynamic.ts';
import { quantizeStatic } from '../quantize/quantize-static.ts';
import { quantizeWeightOnly } from '../quantize/weight-only.ts';
import type { TransformReport } from '../transform/report.ts';

/**
 * Does to a model what a request asks for, and writes down what it did. `ranges` are those of the activations, for
 * static methods.
 */
export function applyRequest(
  model: Model,
  request: PruneRequest | QuantizeRequest,
  ranges: CalibrationRanges,
  report: TransformReport,
): void {
  if (request.operation === 'prune') {
    pruneModel(model, request, report);
    return;
  }
  switch (request.strategy) {
    case 'dynamic':
      quantizeDynamic(model, request, report);
      break;
    case 'weight_only':
      quantizeWeightOnly(model, request, report);
      break;
    case 'float16':
      convertToFloat16(model, request, report);
      break;
    default:
      quantizeStatic(model, request, ranges, report);
  }
}
