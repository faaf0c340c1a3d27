import type { Model } from '../../../model/file/model.ts';
import { foldBatchNorms } from '../../../model/graph/fold-batch-norm.ts';
import { isExcluded, makeNode, Names, nodeName } from '../../../model/graph/graph.ts';
import { removeUnused } from '../../../model/graph/remove-unused.ts';
import { unfoldEinsum } from '../../../model/graph/unfold-einsum.ts';
import { ModelError } from '../../../model/model-error.ts';
import type { NodeProto } from '../../../model/proto/onnx_pb.js';
import type { Tensor } from '../../../model/tensor/tensor.ts';
import type { CalibrationRanges } from '../../calibrate/ranges.ts';
import type { CalibrationStatistics } from '../../calibrate/statistics-file.ts';
import type { TransformReport } from '../../report/report.ts';
import { quantizeGather, tiedForm } from '../dynamic/dynamic-gather.ts';
import { DynamicGraph } from '../dynamic/dynamic-graph.ts';
import { makePlain } from '../dynamic/dynamic-products.ts';
import { tiedNames, tiedTables } from '../dynamic/tied-tables.ts';
import { floatTables, outputNames, usedInFloat } from '../float-tables.ts';
import { foldWeights } from '../fold-weights.ts';
import { foldWidened } from '../fold-widened.ts';
import { prepareProducts } from '../prepare-products.ts';
import { WeightStore } from '../weight-store.ts';
import { ConstantWriter, readInBodies } from './static-constants.ts';
import { ActivationScales, staticNodes } from './static-nodes.ts';
import {
  isChosen,
  keepsInputFloat,
  leafOperators,
  operatorsBetween,
  type StaticRequest,
} from './static-operators.ts';
import { makeStaticPlan, minOpsetPerChannel, nothingToQuantize, type StaticPlan } from './static-plan.ts';

/**
 * Quantize weights and activations (QDQ). Weights are symmetric int8, per channel from opset 13 on. Activations
 * have the type `quant_type` and the measured ranges of the `calibrationTargets`. Biases are int32. Weights,
 * scales and zero points match ONNX Runtime's quantize_static on the same ranges. Control flow bodies stay float.
 *
 * @throws ModelError if the opset is too old, or there is nothing to quantize
 */
export function quantizeStatic(
  model: Model,
  given: StaticRequest,
  measured: CalibrationRanges,
  report: TransformReport,
  statistics: CalibrationStatistics = new Map(),
): void {
  report.notes.push(...prepareStatic(model, given, statistics));
  const names = new Names(model.graph);
  const tied = tiedTables(model.graph, names, given.exclude);
  const outputs = outputNames(model.graph);
  const request = { ...given, tied: tiedNames(model.graph, tied), outputs };
  if (request.per_channel && model.opset() < minOpsetPerChannel) {
    report.notes.push(
      `Weights have one scale each: scales per channel need opset ${minOpsetPerChannel}; the model has ${model.opset()}.`,
    );
  }
  reportKept(model, request, report);
  const { plan, ranges } = makeStaticPlan(model, request, measured);
  const scales = new ActivationScales(plan, names, request, ranges);
  const constants = new ConstantWriter(plan, names, report, request);
  constants.putOperands(scales);
  constants.putWeights(scales);
  reportUnmeasured(plan, scales, report);
  warnOfSigned(request, plan, report);
  model.graph.nodes = [...constants.nodes, ...staticNodes(plan, names, scales)];
  if (request.inputs_only || tied.size > 0) quantizeTables(model, names, { request, tied }, report);
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
  unfoldEinsum(model.graph, request.exclude);
  foldWidened(model.graph, request.exclude, leafOperators, [model.graph]);
  const folded = foldBatchNorms(model);
  const names = new Names(model.graph);
  const tied = tiedTables(model.graph, names, request.exclude);
  const inFloat = floatTables(model.graph, request.exclude, leafOperators);
  foldWeights(model.graph, request.exclude, new Set([...tied, ...inFloat]));
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

/**
 * Quantize tables as in dynamic quantization. The selected rows are float at once and need no range. A table that a
 * product shares is stored once, with a scale for each of its rows. Without `inputs_only`, only such tables are left.
 */
function quantizeTables(
  model: Model,
  names: Names,
  { request, tied }: { request: StaticRequest; tied: ReadonlySet<Tensor> },
  report: TransformReport,
): void {
  const { graph } = model;
  const store = new WeightStore(names, report);
  const per_channel = request.per_channel && model.opset() >= minOpsetPerChannel;
  const form = { ...request, per_channel, quant_type: 'int8' as const, include: [] };
  const inFloat = floatTables(graph, request.exclude, leafOperators);
  const dynamic = new DynamicGraph(graph, names, store, form, model.opset(), tied);
  for (const { name } of tied) readInBodies(graph, name, (reader) => dequantizedTied(dynamic, name, reader));
  for (const node of graph.nodes) {
    const tensor = isExcluded(node, request.exclude)
      ? undefined
      : graph.initializers.get(node.input[0] ?? '');
    const isTied = tensor !== undefined && tied.has(tensor);
    if (isTied && node.opType === 'Transpose') {
      const head = graph.nodes.find(({ input }) => input.includes(node.output[0] ?? ''));
      node.input[0] = dequantizedTied(dynamic, tensor.name, head ?? node);
    }
    const isTable = node.opType === 'Gather' && tensor?.type === 'float' && (request.inputs_only || isTied);
    const isInFloat = tensor !== undefined && !isTied && inFloat.has(tensor);
    const kept = !isTable ? '' : isInFloat ? usedInFloat : quantizeGather(dynamic, node);
    if (kept === undefined) continue;
    if (kept !== '') report.keep(nodeName(node), kept);
    dynamic.nodes.push(node);
  }
  graph.nodes = dynamic.nodes;
}

/** Return the name of the float form of a tied table that its 8-bit form makes. The report names the reader. */
function dequantizedTied(dynamic: DynamicGraph, table: string, reader: NodeProto): string {
  const constant = dynamic.weight(table);
  if (typeof constant === 'string') return table;
  const quantizedNames = dynamic.weights.quantized(constant, tiedForm(dynamic), reader);
  if (quantizedNames === undefined) return table;
  const float = dynamic.names.make(`${table}_DequantizeLinear_Output`);
  const options = {
    name: dynamic.names.make(`${table}_DequantizeLinear`),
    ...(dynamic.request.per_channel && { attributes: { axis: 0 } }),
  };
  const inputs = [quantizedNames.weight, quantizedNames.scale, quantizedNames.zeroPoint];
  dynamic.nodes.push(makeNode('DequantizeLinear', inputs, [float], options));
  return float;
}
