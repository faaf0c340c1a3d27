import type { Model } from '../../../model/file/model.ts';
import { GraphIndex } from '../../../model/graph/graph-index.ts';
import { inferValues } from '../../../model/infer/infer-values.ts';
import { ModelError } from '../../../model/model-error.ts';
import type { CalibrationRanges, Range } from '../../calibrate/ranges.ts';
import { weightsInBodies } from '../../report/weights-in-bodies.ts';
import { isChosen, keepsInputFloat, type StaticRequest } from './static-operators.ts';
import { StaticPlan } from './static-plan.ts';
import { staticRule, weightsAlone } from './static-rules.ts';

/** QuantizeLinear takes an axis since this operator set. */
export const minOpsetPerChannel = 13;

/**
 * Finds what of a prepared model will be quantized, with the ranges of its activations as they will be used. Without
 * measured ranges every activation is taken to have one.
 */
export function makeStaticPlan(
  model: Model,
  request: StaticRequest,
  measured?: CalibrationRanges,
): { plan: StaticPlan; ranges: Map<string, Range> } {
  const index = new GraphIndex(model.graph);
  const plan = new StaticPlan(model, index, inferValues(model));
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
 * The ranges as they are used: that of a Softmax is fixed, a value that only a Relu or Clip takes needs no more than
 * what comes out of it, and ranges that no 8 bits can hold are left out.
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

/** Beyond any activation: what masks hold in place of minus infinity. */
const leastMask = 1e30;

/** Whether a range is wide enough for 8 bits. */
const isUsable = ({ min, max }: Range): boolean => min > -leastMask && max < leastMask && min <= max;

/** Why a model without a constant that could be quantized is refused. */
export const nothingToQuantize = ({ graph }: Model): ModelError =>
  new ModelError(
    `Static methods have nothing to quantize: outside of control flow the model has no Conv, Gemm, MatMul or Gather of constant float weight that is not excluded.${weightsInBodies(graph)}`,
  );
