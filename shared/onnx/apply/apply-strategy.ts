import type { CalibrationRanges } from '../calibrate/ranges.ts';
import type { Model } from '../model/model.ts';
import { pruneMagnitude } from '../prune/magnitude.ts';
import { pruneNofM } from '../prune/n-of-m.ts';
import type { StructuredStrategy } from '../prune/structured/channel-scores.ts';
import { pruneStructured } from '../prune/structured/prune-structured.ts';
import { convertToFloat16 } from '../quantize/float16.ts';
import { quantizeDynamic } from '../quantize/quantize-dynamic.ts';
import { quantizeStatic } from '../quantize/quantize-static.ts';
import { quantizeWeightOnly } from '../quantize/weight-only.ts';
import type { OptimizationRequest } from '../strategies/optimization-request.ts';
import type { PruneRequest } from '../strategies/prune-request.ts';
import type { PruneStrategy } from '../strategies/prune-strategies.ts';
import type { QuantizeRequest } from '../strategies/quantize-request.ts';
import type { QuantizeStrategy } from '../strategies/quantize-strategies.ts';
import type { TransformReport } from '../transform/report.ts';
import { requireOpset } from './require-opset.ts';

/** The input of a strategy. */
interface Work {
  model: Model;
  report: TransformReport;
  /** Of the activations, for strategies that are calibrated. */
  ranges: CalibrationRanges;
}

type Apply<R> = (work: Work, request: R) => void;

const magnitude: Apply<PruneRequest> = ({ model, report }, request) => pruneMagnitude(model, request, report);
const structured =
  (strategy: StructuredStrategy): Apply<PruneRequest> =>
  ({ model, report }, request) =>
    pruneStructured(model, { ...request, strategy }, report);
const calibrated: Apply<QuantizeRequest> = ({ model, report, ranges }, request) =>
  quantizeStatic(model, request, ranges, report);

/** The implementation of every pruning; the entries of the registry are kept apart because Lambdas read them too. */
const prunings: Readonly<Record<PruneStrategy, Apply<PruneRequest>>> = {
  magnitude_global: magnitude,
  magnitude_local: magnitude,
  n_m_2_4: ({ model, report }, request) => pruneNofM(model, request, report),
  structured_l1: structured('structured_l1'),
  structured_l2: structured('structured_l2'),
  random: structured('random'),
};

/** The implementation of every quantization. */
const quantizations: Readonly<Record<QuantizeStrategy, Apply<QuantizeRequest>>> = {
  dynamic: ({ model, report }, request) => quantizeDynamic(model, request, report),
  static_minmax: calibrated,
  static_percentile: calibrated,
  static_entropy: calibrated,
  weight_only: ({ model, report }, request) => quantizeWeightOnly(model, request, report),
  float16: ({ model, report }, request) => convertToFloat16(model, request, report),
};

/**
 * Prune or quantize a loaded model in place, and report what was done.
 *
 * @throws ModelError where the strategy cannot do anything to this model
 */
export function applyStrategy(work: Work, request: OptimizationRequest): void {
  requireOpset(work.model, request);
  if (request.operation === 'prune') prunings[request.strategy](work, request);
  else quantizations[request.strategy](work, request);
}
