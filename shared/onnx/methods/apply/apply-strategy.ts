import type { Model } from '../../model/file/model.ts';
import { ModelError } from '../../model/model-error.ts';
import { type OptimizationRequest, strategyFacts } from '../../strategies/optimization-request.ts';
import type { PruneRequest } from '../../strategies/prune-request.ts';
import type { PruneStrategy } from '../../strategies/prune-strategies.ts';
import type { QuantizeRequest } from '../../strategies/quantize-request.ts';
import type { QuantizeStrategy } from '../../strategies/quantize-strategies.ts';
import type { Observations } from '../calibrate/observations.ts';
import { fuseGraph } from '../fuse/fuse-graph.ts';
import { pruneMagnitude } from '../prune/magnitude.ts';
import { pruneNofM } from '../prune/n-of-m.ts';
import { widenStored } from '../prune/stored-casts.ts';
import type { StructuredStrategy } from '../prune/structured/choose-channels.ts';
import { pruneStructured } from '../prune/structured/prune-structured.ts';
import { pruneWithUpdate } from '../prune/update-pruning.ts';
import { awqMethod } from '../quantize/blocks/awq-method.ts';
import type { BlockMemory } from '../quantize/blocks/block-memory.ts';
import { gptqMethod } from '../quantize/blocks/gptq-method.ts';
import { leastErrorMethod, nearestLevels } from '../quantize/blocks/levels-by-block.ts';
import { type LevelChoice, quantizeWeightOnly } from '../quantize/blocks/weight-only.ts';
import { quantizeDynamic } from '../quantize/dynamic/quantize-dynamic.ts';
import { convertToFloat16 } from '../quantize/half/float16.ts';
import { quantizeStatic } from '../quantize/static/quantize-static.ts';
import { orAlreadyQuantized } from '../report/already-quantized.ts';
import type { TransformReport } from '../report/report.ts';

/** The input of a strategy. */
interface Work {
  model: Model;
  report: TransformReport;
  /** Calibration results, for strategies that need them. */
  observed: Observations;
  /** Layers whose weights a static quantization quantizes without their inputs. */
  floatInputs?: readonly string[] | undefined;
  /** Layers whose blocks have 8 bits, whatever the precision. */
  eightBits?: readonly string[] | undefined;
  /** Blocks that earlier results of the same process have. */
  memory?: BlockMemory | undefined;
}

/**
 * Prune or quantize a loaded model in place, and report the changes.
 *
 * @throws ModelError if the strategy cannot change this model
 */
export function applyStrategy(work: Work, request: OptimizationRequest): void {
  requireOpset(work.model, request);
  if (request.operation === 'prune') {
    const storeAgain = request.compression > 1 ? widenStored(work.model.graph) : undefined;
    prunings[request.strategy](work, request);
    storeAgain?.();
    return;
  }
  orAlreadyQuantized(work.model.graph, () => quantizations[request.strategy](work, request));
}

/**
 * Refuse a model whose opset is too old for a strategy. This applies if the opset could not be raised before.
 *
 * @throws ModelError that names the required opset
 */
function requireOpset(model: Pick<Model, 'opset'>, request: OptimizationRequest): void {
  const { minOpset } = strategyFacts(request);
  const own = model.opset();
  if (minOpset === undefined || own >= minOpset) return;
  throw new ModelError(
    `${request.strategy} needs opset ${minOpset} or higher; the model has ${own}. Export it with that opset, or use weight_only.`,
  );
}

type Apply<R> = (work: Work, request: R) => void;

const magnitude: Apply<PruneRequest> = ({ model, report }, request) => pruneMagnitude(model, request, report);

const structured =
  (strategy: StructuredStrategy): Apply<PruneRequest> =>
  ({ model, report }, request) =>
    pruneStructured(model, { ...request, strategy }, report);

const updating =
  (strategy: 'sparsegpt' | 'sparsegpt_2_4'): Apply<PruneRequest> =>
  ({ model, report, observed }, request) =>
    pruneWithUpdate(model, { ...request, strategy }, report, observed.statistics);

/** Implementation of every pruning strategy. The registry is a separate module because Lambdas read it too. */
const prunings: Readonly<Record<PruneStrategy, Apply<PruneRequest>>> = {
  magnitude_global: magnitude,
  magnitude_local: magnitude,
  n_m_2_4: ({ model, report }, request) => pruneNofM(model, request, report),
  sparsegpt: updating('sparsegpt'),
  sparsegpt_2_4: updating('sparsegpt_2_4'),
  structured_l1: structured('structured_l1'),
  structured_l2: structured('structured_l2'),
  structured_reconstruct: ({ model, report, observed }, request) =>
    pruneStructured(model, { ...request, strategy: 'structured_reconstruct' }, report, observed.statistics),
  optimize: ({ model, report }, request) => fuseGraph(model, request.exclude, report),
  auto: () => {
    throw new Error('auto consists of other strategies');
  },
  random: structured('random'),
};

const calibrated: Apply<QuantizeRequest> = ({ model, report, observed, floatInputs = [] }, request) =>
  quantizeStatic(model, { ...request, floatInputs }, observed.ranges, report, observed.statistics);

const inBlocks =
  (choiceOf: (work: Work) => LevelChoice): Apply<QuantizeRequest> =>
  (work, request) =>
    quantizeWeightOnly(
      work.model,
      { ...request, eightBits: work.eightBits },
      work.report,
      choiceOf(work),
      work.memory,
    );

/** Implementation of every quantization strategy. */
const quantizations: Readonly<Record<QuantizeStrategy, Apply<QuantizeRequest>>> = {
  dynamic: ({ model, report, observed }, request) =>
    quantizeDynamic(model, request, report, observed.statistics),
  static_minmax: calibrated,
  static_percentile: calibrated,
  static_entropy: calibrated,
  static_mse: calibrated,
  weight_only: inBlocks(() => ({ methodOf: () => nearestLevels })),
  weight_only_mse: inBlocks(() => ({ methodOf: (_, __, memory) => leastErrorMethod(memory) })),
  awq: inBlocks(({ observed: { statistics } }) => ({
    statistics,
    methodOf: (uses, scaled, memory) => awqMethod(scaled, memory)(uses),
  })),
  gptq: inBlocks(({ report, observed: { statistics } }) => ({
    statistics,
    methodOf: (uses, scaled, memory) => gptqMethod(scaled, report, memory)(uses),
  })),
  auto: () => {
    throw new Error('auto consists of other strategies');
  },
  float16: ({ model, report, observed }, request) =>
    convertToFloat16(model, request, report, observed.ranges),
};
