import type { Model } from '../../../model/file/model.ts';
import { foldBatchNorms } from '../../../model/graph/fold-batch-norm.ts';
import { isExcluded, Names, nodeName } from '../../../model/graph/graph.ts';
import { removeUnused } from '../../../model/graph/remove-unused.ts';
import { ModelError } from '../../../model/model-error.ts';
import type { NodeProto } from '../../../model/proto/onnx_pb.js';
import type { CalibrationRanges } from '../../calibrate/ranges.ts';
import type { CalibrationStatistics } from '../../calibrate/statistics-file.ts';
import type { TransformReport } from '../../report/report.ts';
import { quantizeGather } from '../dynamic/dynamic-gather.ts';
import { DynamicGraph } from '../dynamic/dynamic-graph.ts';
import { makePlain } from '../dynamic/dynamic-products.ts';
import { foldWeights } from '../fold-weights.ts';
import { prepareProducts } from '../prepare-products.ts';
import { WeightStore } from '../weight-store.ts';
import { makeStaticPlan, minOpsetPerChannel, nothingToQuantize } from './make-static-plan.ts';
import { ActivationScales } from './static-activations.ts';
import { ConstantWriter } from './static-constants.ts';
import { StaticNodes } from './static-nodes.ts';
import {
  isChosen,
  keepsInputFloat,
  leafOperators,
  operatorsBetween,
  type StaticRequest,
} from './static-operators.ts';
import type { StaticPlan } from './static-plan.ts';

/**
 * Quantize weights and activations (QDQ). Weights are symmetric int8, per channel from opset 13 on. Activations
 * have the type `quant_type` and the measured ranges of the `calibrationTargets`. Biases are int32. Weights,
 * scales and zero points match ONNX Runtime's quantize_static on the same ranges. Control flow bodies stay float.
 *
 * @throws ModelError if the opset is too old, or there is nothing to quantize
 */
export function quantizeStatic(
  model: Model,
  request: StaticRequest,
  measured: CalibrationRanges,
  report: TransformReport,
  statistics: CalibrationStatistics = new Map(),
): void {
  report.notes.push(...prepareStatic(model, request, statistics));
  if (request.per_channel && model.opset() < minOpsetPerChannel) {
    report.notes.push(
      `Weights have one scale each: scales per channel need opset ${minOpsetPerChannel}; the model has ${model.opset()}.`,
    );
  }
  reportKept(model, request, report);
  const { plan, ranges } = makeStaticPlan(model, request, measured);
  const names = new Names(model.graph);
  const scales = new ActivationScales(plan, names, request, ranges);
  const constants = new ConstantWriter(plan, names, report, request);
  constants.putOperands(scales);
  constants.putWeights(scales);
  reportUnmeasured(plan, scales, report);
  warnOfSigned(request, plan, report);
  model.graph.nodes = new StaticNodes(plan, names, scales).written(constants.nodes);
  if (request.inputs_only) quantizeTables(model, names, request, report);
  if (report.layers.length === 0) {
    // `calibrationTargets` has already checked that the plan has constants, but they may contain values that no
    // scale can represent.
    throw plan.constants.length === 0
      ? nothingToQuantize(model)
      : new ModelError(`Static methods can quantize none of the model's weights.${report.keptText()}`);
  }
  removeUnused(model.graph);
}

/**
 * Transform a model into the form that static quantization requires. The model computes the same. Fold
 * BatchNormalization into Conv, turn transposed constants into constants, and remove the factors of Gemm.
 * Equalize, smooth and correct as far as the request asks. Return notes. A request without these three gets no
 * notes for a model that was prepared before.
 */
export function prepareStatic(
  model: Model,
  request: StaticRequest,
  statistics: CalibrationStatistics = new Map(),
): string[] {
  const folded = foldBatchNorms(model);
  foldWeights(model.graph, request.exclude);
  const names = new Names(model.graph);
  model.graph.nodes = model.graph.nodes.flatMap((node) => {
    if (node.opType !== 'Gemm' || !isChosen(model, node, request)) return [node];
    if (model.graph.initializers.get(node.input[1] ?? '')?.type !== 'float') return [node];
    return [...(makePlain(model.graph, names, node) ?? []), node];
  });
  const mapping = { type: 'int8', symmetric: true, reduced: request.reduce_range } as const;
  const isPerChannel = request.per_channel && model.opset() >= minOpsetPerChannel;
  const notes = prepareProducts(model, request, { mapping, isPerChannel }, statistics);
  return folded === 0
    ? notes
    : [`${folded} BatchNormalization were folded into the Conv before them.`, ...notes];
}

function reportKept(model: Model, request: StaticRequest, report: TransformReport): void {
  for (const node of model.graph.nodes) {
    const why = reasonFor(model, node, request);
    if (why !== undefined) report.keep(nodeName(node), why);
  }
}

/** Operators whose weights static quantization does not change. */
const otherLeaves: ReadonlySet<string> = new Set(['ConvTranspose', 'LSTM', 'GRU', 'RNN', 'Attention']);

const quantized: ReadonlySet<string> = new Set([...leafOperators, ...operatorsBetween]);

/** Return the reason why a node stays float, if it needs a note. */
function reasonFor({ graph }: Model, node: NodeProto, request: StaticRequest): string | undefined {
  const { opType } = node;
  const { exclude } = request;
  if (otherLeaves.has(opType)) return `static methods have no quantized ${opType}`;
  if (quantized.has(opType) && isExcluded(node, exclude)) return 'the request excludes it';
  if (keepsInputFloat(node, request)) return 'its input stays float: in 8 bits it would exceed max_error';
  if (graph.bodiesOf(node).length > 0) return 'bodies of control flow are not calibrated';
  const weight = graph.initializers.get(node.input[1] ?? '');
  if (opType === 'Conv' && weight?.type !== 'float') return `its weight is ${weight?.type ?? 'computed'}`;
  return undefined;
}

/** Report activations without a range that 8 bits can hold. */
function reportUnmeasured(plan: StaticPlan, scales: ActivationScales, report: TransformReport): void {
  for (const mark of plan.activations.values()) {
    if (mark.sharedWith === undefined && scales.of(mark) === undefined) {
      report.keep(mark.name, 'its range is unknown, or too wide for 8 bits, like the range of a mask');
    }
  }
}

/**
 * Warn about int8 activations with several users. On x64, ONNX Runtime's CPU provider runs int8 activations as
 * uint8, except for a value with several users. It computes those in float, which makes the model slower than
 * before (seen with 1.30).
 */
function warnOfSigned({ quant_type }: StaticRequest, plan: StaticPlan, report: TransformReport): void {
  const isShared = [...plan.activations.keys()].some((name) => plan.index.uses(name).length > 1);
  if (quant_type === 'uint8' || !isShared) return;
  report.warnings.push(
    'Activations are int8: on x64, ONNX Runtime computes values with several users in float, unless session.qdqisint8allowed is 1. uint8 is equally accurate and always fast.',
  );
}

/** Quantize tables as in dynamic quantization. The selected rows are float at once and need no range. */
function quantizeTables(model: Model, names: Names, request: StaticRequest, report: TransformReport): void {
  const store = new WeightStore(names, report);
  const dynamic = new DynamicGraph(model.graph, names, store, { ...request, include: [] }, model.opset());
  for (const node of model.graph.nodes) {
    const isTable = node.opType === 'Gather' && !isExcluded(node, request.exclude);
    const isFloat = model.graph.initializers.get(node.input[0] ?? '')?.type === 'float';
    const kept = isTable && isFloat ? quantizeGather(dynamic, node) : '';
    if (kept === undefined) continue;
    if (kept !== '') report.keep(nodeName(node), kept);
    dynamic.nodes.push(node);
  }
  model.graph.nodes = dynamic.nodes;
}
