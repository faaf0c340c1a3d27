import type { Model } from '../../model/file/model.ts';
import { Names } from '../../model/graph/graph.ts';
import { unfoldEinsum } from '../../model/graph/unfold-einsum.ts';
import type { QuantizeRequest } from '../../strategies/quantize-request.ts';
import type { QuantizationByStatistics, QuantizeStrategy } from '../../strategies/quantize-strategies.ts';
import type { ObservedInput } from '../calibrate/statistics-file.ts';
import { findBlockUses, nothingForBlocks } from '../quantize/blocks/block-weight.ts';
import { prepareBlocks } from '../quantize/blocks/weight-only.ts';
import { equalizeLayers } from '../quantize/equalize-layers.ts';
import { foldWeights } from '../quantize/fold-weights.ts';
import { foldWidened } from '../quantize/fold-widened.ts';
import { inputsOf, productWeight } from '../quantize/product-weights.ts';
import { TransformReport } from '../report/report.ts';

/**
 * Maximum channels of an input whose second moment is inverted. The time of the inversion is cubic in the
 * channels.
 */
const widestInput = 8192;

type Inputs = (model: Model, request: QuantizeRequest) => ObservedInput[];

const inputs: Readonly<Record<QuantizationByStatistics, Inputs>> = {
  awq: blockInputs,
  gptq: blockInputs,
};

/**
 * Return the values whose statistics a quantization needs. Transform the model into the form in which they are
 * observed.
 *
 * @throws ModelError if the model has nothing to quantize
 */
export function quantizationInputs(model: Model, request: QuantizeRequest): ObservedInput[] {
  return isNamed(request.strategy) ? inputs[request.strategy](model, request) : productInputs(model, request);
}

const isNamed = (strategy: QuantizeStrategy): strategy is QuantizationByStatistics =>
  Object.hasOwn(inputs, strategy);

/** Return the inputs of products that are smoothed or corrected. */
function productInputs(model: Model, { exclude, equalize }: QuantizeRequest): ObservedInput[] {
  const { graph } = model;
  unfoldEinsum(graph, exclude);
  foldWidened(graph, exclude, ['MatMul', 'Gemm', 'Gather', 'Conv', 'LSTM']);
  foldWeights(graph, exclude);
  // Equalization changes the values between two layers.
  if (equalize) equalizeLayers(graph, new Names(graph), exclude);
  return graph.nodes.flatMap((node) => {
    const product = productWeight(graph, node, exclude);
    if (product === undefined) return [];
    return [{ name: node.input[0] ?? '', axis: -1, channels: inputsOf(product), hasMoment: false }];
  });
}

/** Return the inputs of products whose weights are quantized in blocks, with their second moments. */
function blockInputs(model: Model, { exclude }: QuantizeRequest): ObservedInput[] {
  const { graph } = model;
  const report = new TransformReport();
  prepareBlocks(graph, exclude);
  const uses = findBlockUses(model, exclude, report);
  if (uses.length === 0) throw nothingForBlocks(graph, report);
  return uses
    .filter((use) => use.kind === 'product' && use.graph === graph && use.weight.k <= widestInput)
    .map(({ node, weight }) => ({
      name: node.input[0] ?? '',
      // A product's input has the type of its weight.
      ...(weight.tensor.type === 'float16' && { type: weight.tensor.type }),
      axis: -1,
      channels: weight.k,
      hasMoment: true,
    }));
}
