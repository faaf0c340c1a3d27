import type { Model } from '../../../model/file/model.ts';
import { GraphIndex } from '../../../model/graph/graph-index.ts';
import { inferValues } from '../../../model/infer/infer-values.ts';
import { ModelError } from '../../../model/model-error.ts';
import type { CalibrationRanges, Range } from '../../calibrate/ranges.ts';
import { weightsInBodies } from '../../report/weights-in-bodies.ts';
import { isChosen, keepsInputFloat, type StaticRequest } from './static-operators.ts';
import { StaticPlan } from './static-plan.ts';
import { staticRule, weightsAlone } from './static-rules.ts';

/** First opset in which QuantizeLinear has an axis. */
export const minOpsetPerChannel = 13;

/**
 * Plan the quantization of a prepared model, with the adjusted ranges of its activations. Without measured ranges,
 * assume that every activation has one.
 */
export function makeStaticPlan(
  model: Model,
  request: StaticRequest,
  measured?: CalibrationRanges,
): { plan: StaticPlan; ranges: Map<string, Range> } {
  const index = new GraphIndex(model.graph);
  const plan = new StaticPlan(model, index, inferValues(model), request.tied);
  const ranges = adjustedRanges(model, index, request, measured ?? new Map());
  const clips = (name: string): boolean => {
    const range = ranges.get(name);
    return measured === undefined || (range !== undefined && (range.min < 0 || range.max > 0));
  };
  const perChannel = request.per_channel && model.opset() >= minOpsetPerChannel;
  const options = { perChannel, inputsOnly: request.inputs_only, clips };
  for (const node of model.graph.nodes) {
    if (!isChosen(model, node, request)) continue;
    const rule = keepsInputFloat(node, request) ? weightsAlone : staticRule(node.opType);
    rule(plan, node, options);
  }
  return { plan, ranges };
}

/**
 * Adjust the measured ranges. The range of a Softmax is fixed. A value that only a Relu or Clip uses gets the
 * range of the Relu's or Clip's output. Ranges that 8 bits cannot represent are left out.
 */
function adjustedRanges(
  model: Model,
  index: GraphIndex,
  request: StaticRequest,
  measured: CalibrationRanges,
): Map<string, Range> {
  const ranges = new Map<string, Range>();
  for (const [name, range] of measured) if (isUsable(range)) ranges.set(name, range);
  for (const node of model.graph.nodes) {
    if (!isChosen(model, node, request)) continue;
    const [input = ''] = node.input;
    const [output = ''] = node.output;
    if (node.opType === 'Softmax') ranges.set(output, { min: 0, max: 1 });
    if (node.opType !== 'Relu' && node.opType !== 'Clip') continue;
    const range = ranges.get(output);
    if (range !== undefined && index.soleUse(input) !== undefined) ranges.set(input, range);
  }
  return ranges;
}

/** Magnitude beyond any activation. Masks use such numbers instead of minus infinity. */
const leastMask = 1e30;

/** Whether 8 bits can represent a range. */
const isUsable = ({ min, max }: Range): boolean => min > -leastMask && max < leastMask && min <= max;

/** Return the error for a model without a constant that can be quantized. */
export const nothingToQuantize = ({ graph }: Model): ModelError =>
  new ModelError(
    `Static methods have nothing to quantize: outside of control flow, the model has no Conv, Gemm, MatMul or Gather with a constant float weight that is not excluded.${weightsInBodies(graph)}`,
  );
