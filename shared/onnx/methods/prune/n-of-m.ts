import type { Model } from '../../model/file/model.ts';
import { ModelError } from '../../model/model-error.ts';
import { elementCount } from '../../model/tensor/tensor.ts';
import type { PruneRequest } from '../../strategies/prune-request.ts';
import type { TransformReport } from '../report/report.ts';
import { bitsOfFloats, magnitudeBits } from './magnitude.ts';
import { floatParameters, layerName, recordOutcome } from './outcome.ts';
import { preparePruning } from './prepare-pruning.ts';
import { type PrunableWeight, prunableWeights } from './prunable-weights.ts';
import type { WeightLayout } from './weight-layout.ts';
import { type Mask, zeroedTensor, zeroingOf } from './zeroed-tensor.ts';

/**
 * Keep 2 of every 4 weights along the input channels, for each output channel and kernel position (matrix
 * products: along K). A weight whose number of input channels is not divisible by 4 is kept and reported.
 *
 * @throws ModelError if the compression is not 2, or if no weight fits the pattern
 */
export function pruneNofM(
  model: Model,
  request: Pick<PruneRequest, 'strategy' | 'compression' | 'exclude'>,
  report: TransformReport,
): void {
  if (request.compression !== 2) throw new ModelError('compression must be 2 with n_m_2_4.');
  preparePruning(model, request.exclude);
  const weights = prunableWeights(model.graph, request.exclude, report);
  const whole = floatParameters(model.graph);
  let [before, after] = [0, 0];
  for (const weight of weights) {
    const why = misfit(weight);
    const [layout] = weight.layouts;
    if (why !== undefined || layout === undefined) {
      report.keep(`weight ${weight.tensor.name} of ${layerName(weight.node)}`, why ?? 'is not understood');
      continue;
    }
    const mask = maskOf(layout);
    report.layers.push(zeroingOf(weight, mask));
    weight.graph.put(zeroedTensor(weight.tensor, mask));
    before += elementCount(weight.tensor.dims);
    after += elementCount(weight.tensor.dims) / 2;
  }
  if (before === 0) {
    throw new ModelError(
      `No prunable weight of a Conv, Gemm or MatMul has a multiple of 4 input channels, so 2 of 4 cannot be chosen.${report.keptText()}`,
    );
  }
  recordOutcome(report, request, { before, after, modelBefore: whole, modelAfter: whole - before + after });
  report.notes.push(
    'Two of four weights were zeroed: GPUs with sparse tensor cores run faster, CPUs do not.',
  );
}

/** Return the reason why the pattern does not fit a weight. Undefined if it fits. */
function misfit({ layouts }: PrunableWeight): string | undefined {
  const [layout] = layouts;
  if (layout === undefined || layouts.length > 1)
    return 'is shared by layers that read it in different layouts';
  if (layout.reduction % 4 !== 0) return `has ${layout.reduction} input channels, not a multiple of 4`;
  return undefined;
}

/** Mask the two smallest of every four values along the reduction. Ties mask the later values. */
const maskOf =
  ({ outer, reduction, inner }: WeightLayout): Mask =>
  (values) => {
    const bits = bitsOfFloats(values);
    const gone = new Uint8Array(bits.length);
    for (let block = 0; block < outer * (reduction / 4); block += 1) {
      for (let place = 0; place < inner; place += 1) {
        const start = block * 4 * inner + place;
        for (let one = 0; one < 4; one += 1) {
          const at = start + one * inner;
          const own = magnitudeBits(bits[at] ?? 0);
          let stronger = 0;
          for (let other = 0; other < 4; other += 1) {
            const against = magnitudeBits(bits[start + other * inner] ?? 0);
            if (against > own || (against === own && other < one)) stronger += 1;
          }
          if (stronger >= 2) gone[at] = 1;
        }
      }
    }
    return gone;
  };
