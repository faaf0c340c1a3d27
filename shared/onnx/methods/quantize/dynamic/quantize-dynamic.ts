import { type Model, microsoft, useMicrosoft } from '../../../model/file/model.ts';
import { isExcluded, Names, nodeName, operatorName } from '../../../model/graph/graph.ts';
import { removeUnused } from '../../../model/graph/remove-unused.ts';
import { unfoldEinsum } from '../../../model/graph/unfold-einsum.ts';
import { ModelError } from '../../../model/model-error.ts';
import type { NodeProto } from '../../../model/proto/onnx_pb.js';
import type { Tensor } from '../../../model/tensor/tensor.ts';
import type { CalibrationStatistics } from '../../calibrate/statistics-file.ts';
import type { TransformReport } from '../../report/report.ts';
import { weightsInBodies } from '../../report/weights-in-bodies.ts';
import { anglesOf, ofAngles } from '../angle-nodes.ts';
import { floatTables, usedInFloat } from '../float-tables.ts';
import { foldWeights } from '../fold-weights.ts';
import { foldWidened, weightPositions } from '../fold-widened.ts';
import { prepareProducts } from '../prepare-products.ts';
import { ownedConstant, WeightStore } from '../weight-store.ts';
import { quantizeAttention } from './dynamic-attention.ts';
import { quantizeGather } from './dynamic-gather.ts';
import { DynamicGraph, type DynamicRequest, type DynamicRule, dynamicMapping } from './dynamic-graph.ts';
import { quantizeLstm } from './dynamic-lstm.ts';
import { quantizeConv, quantizeGemm, quantizeMatMul } from './dynamic-products.ts';
import { tiedTables } from './tied-tables.ts';
import { widenHalf } from './widen-half.ts';

/**
 * Quantize weights now, and activations while the model runs. MatMul and Gemm become DynamicQuantizeLinear and
 * MatMulInteger. LSTM and Attention become ONNX Runtime's own operators. Tables of Gather keep their layout. Conv
 * is quantized only if the request includes it. Control flow bodies are included. Weights, scales and zero points
 * match ONNX Runtime's quantize_dynamic.
 *
 * @throws ModelError if the opset is too old, or there is nothing to quantize
 */
export function quantizeDynamic(
  model: Model,
  request: DynamicRequest,
  report: TransformReport,
  statistics: CalibrationStatistics = new Map(),
): void {
  const { graph: root } = model;
  const operators = ['MatMul', 'Gemm', 'Gather', 'LSTM', ...request.include];
  unfoldEinsum(root, request.exclude);
  foldWidened(root, request.exclude, operators);
  widenHalf(root, request.exclude);
  const tied = tiedTables(root, new Names(root), request.exclude);
  const inFloat = floatTables(root, request.exclude, operators);
  foldWeights(root, request.exclude, new Set([...tied, ...inFloat]));
  const form = { mapping: dynamicMapping(request), isPerChannel: request.per_channel };
  report.notes.push(...prepareProducts(model, request, form, statistics));
  const angles = anglesOf(model);
  const names = new Names(root);
  const weights = new WeightStore(names, report);
  for (const graph of root.all()) {
    const dynamic = new DynamicGraph(graph, names, weights, request, model.opset(), tied);
    for (const node of graph.nodes) quantizeNode(dynamic, node, { inFloat, angles }, report);
    graph.nodes = dynamic.nodes;
  }
  if (report.layers.length === 0) {
    throw new ModelError(
      `dynamic has nothing to quantize: the model has no MatMul, Gemm, Gather, LSTM or Attention with a constant float weight that is not excluded and can be quantized.${report.keptText()}${weightsInBodies(root)}`,
    );
  }
  report.notes.push(...notesOn(model, request));
  if ([...root.all()].some(({ nodes }) => nodes.some(({ domain }) => domain === microsoft)))
    useMicrosoft(model);
  removeUnused(root);
}

function quantizeNode(
  dynamic: DynamicGraph,
  node: NodeProto,
  { inFloat, angles }: { inFloat: ReadonlySet<Tensor>; angles: ReadonlySet<NodeProto> },
  report: TransformReport,
): void {
  const rule = ruleOf(dynamic, node);
  if (rule === undefined) {
    dynamic.nodes.push(node);
    return;
  }
  const weights = (weightPositions[node.opType] ?? []).map((at) =>
    dynamic.graph.initializer(node.input[at] ?? ''),
  );
  const own = weights.some((weight) => weight !== undefined && inFloat.has(weight)) ? usedInFloat : undefined;
  const stayed = angles.has(node) ? ofAngles : own;
  const why = isExcluded(node, dynamic.request.exclude) ? 'the request excludes it' : stayed;
  const kept = why ?? rule(dynamic, node);
  if (kept === undefined) return;
  report.keep(nodeName(node), kept);
  dynamic.nodes.push(node);
}

const rules: ReadonlyMap<string, DynamicRule> = new Map([
  ['MatMul', quantizeMatMul],
  ['Gemm', quantizeGemm],
  ['LSTM', quantizeLstm],
  ['Conv', quantizeConv],
  ['Gather', quantizeGather],
  [`${microsoft}.Attention`, quantizeAttention],
]);

function ruleOf(dynamic: DynamicGraph, node: NodeProto): DynamicRule | undefined {
  const operator = operatorName(node);
  if (operator === 'GRU' || operator === 'RNN') return stays;
  if (operator === 'Conv' && !dynamic.request.include.includes('Conv')) return undefined;
  if (operator === 'Gather' && !isTable(dynamic, node)) return undefined;
  return rules.get(operator);
}

const stays: DynamicRule = (_, { opType }) => `ONNX Runtime has no quantized ${opType}`;

/** Whether a node looks up rows of floats. Most other lookups are in shapes and need no report. */
const isTable = ({ graph }: DynamicGraph, { input }: NodeProto): boolean =>
  ownedConstant(graph, input[0])?.tensor.type === 'float';

/** Return notes on a quantized model for its owner. */
function notesOn({ graph }: Model, { include, quant_type, leaf_node }: DynamicRequest): string[] {
  const operators = [...graph.all()].flatMap(({ nodes }) => nodes.map(({ opType }) => opType));
  const convs = operators.filter((operator) => operator === 'Conv').length;
  return [
    convs > 0 && !include.includes('Conv')
      ? `${convs} Conv stay float: dynamic quantization makes them slower. To quantize them, name them in include.`
      : '',
    quant_type === 'uint8' && operators.includes('DynamicQuantizeLSTM')
      ? 'Weights of LSTM are int8: its quantized form has no zero points.'
      : '',
    leaf_node ? 'leaf_node has no effect with dynamic.' : '',
  ].filter((note) => note !== '');
}
