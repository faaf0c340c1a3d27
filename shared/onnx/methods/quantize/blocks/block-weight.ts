import type { Model } from '../../../model/file/model.ts';
import { floatAttribute, intAttribute } from '../../../model/graph/attributes.ts';
import { type Graph, isExcluded, nodeName } from '../../../model/graph/graph.ts';
import { GraphIndex } from '../../../model/graph/graph-index.ts';
import { finiteness } from '../../../model/kernels/finiteness.ts';
import { ModelError } from '../../../model/model-error.ts';
import type { NodeProto } from '../../../model/proto/onnx_pb.js';
import { lazyTensor, type Tensor } from '../../../model/tensor/tensor.ts';
import { isFloatTensor, withFloats } from '../../../model/tensor/values.ts';
import type { TransformReport } from '../../report/report.ts';
import { weightsInBodies } from '../../report/weights-in-bodies.ts';
import { anglesOf, ofAngles } from '../angle-nodes.ts';
import { floatTables, usedInFloat } from '../float-tables.ts';
import { isSwap } from '../fold-transposes.ts';
import { type BlockFormat, type Blocks, blockCount, type Matrix, usualBlockSize } from './block-quantize.ts';

/** A constant weight matrix and its layout: [K, N], or [N, K] if transposed. */
export interface WeightMatrix {
  tensor: Tensor;
  k: number;
  n: number;
  transposed: boolean;
}

/** The constants that replace a weight. */
export interface BlockTensors {
  packed: Tensor;
  scales: Tensor;
  /** Undefined if all zero points are the middle level. */
  zeroPoints: Tensor | undefined;
}

/** Quantize a weight in blocks. The matrix contains the weight's values in their original layout. */
export type BlockMethod = (matrix: Matrix, format: BlockFormat, weight: WeightMatrix) => Blocks;

/** Cache of the blocks of one weight. Its three constants are written one after the other. */
export class BlockCache {
  readonly #method: BlockMethod;
  #weight: WeightMatrix | undefined;
  #blocks: Blocks | undefined;

  constructor(method: BlockMethod) {
    this.#method = method;
  }

  blocks(weight: WeightMatrix, format: BlockFormat): Blocks {
    if (this.#weight !== weight || this.#blocks === undefined) {
      // Free the previous blocks before computing the next ones.
      this.#blocks = undefined;
      this.#weight = weight;
      this.#blocks = withFloats(weight.tensor, (values) =>
        this.#method(matrixOf(weight, values), format, weight),
      );
    }
    return this.#blocks;
  }
}

const matrixOf = ({ k, n, transposed }: WeightMatrix, values: Float32Array): Matrix => ({
  values,
  k,
  n,
  strideK: transposed ? 1 : n,
  strideN: transposed ? k : 1,
});

/**
 * Return the constants of a weight in blocks. They are computed on write, and `layer` gets the weight's error
 * then. The values have the shape [N, blocks, bytes] for a matrix product, or [N, K · bits / 8] for a table.
 */
export function blockTensors(
  weight: WeightMatrix,
  format: BlockFormat,
  cache: BlockCache,
  {
    name,
    shape,
    layer,
  }: { name: string; shape: 'product' | 'table'; layer: TransformReport['layers'][number] },
): BlockTensors {
  const { bits, symmetric, blockSize } = format;
  const blocks = blockCount(weight.k, blockSize);
  const blockBytes = (blockSize * bits) / 8;
  const computed = (): Blocks => {
    const result = cache.blocks(weight, format);
    layer.error = result.squaredNorm === 0 ? 0 : Math.sqrt(result.squaredError / result.squaredNorm);
    return result;
  };
  // Scales have the type of the activations, and that is the weight's.
  const type = weight.tensor.type === 'float16' ? 'float16' : 'float';
  const dims = shape === 'product' ? [weight.n, blocks, blockBytes] : [weight.n, (weight.k * bits) / 8];
  const zeroDims = [weight.n, Math.ceil((blocks * bits) / 8)];
  return {
    packed: lazyTensor(`${name}_Q${bits}`, 'uint8', dims, () => computed().packed),
    scales: lazyTensor(`${name}_scales`, type, [weight.n, blocks], () => {
      const { scales } = computed();
      return type === 'float16' ? new Float16Array(scales) : scales;
    }),
    zeroPoints: symmetric
      ? undefined
      : lazyTensor(`${name}_zero_points`, 'uint8', zeroDims, () => computed().zeroPoints ?? new Uint8Array()),
  };
}

/** A node whose weight is quantized in blocks. */
export interface BlockUse {
  graph: Graph;
  node: NodeProto;
  /** `table` for a lookup (Gather), `product` for MatMul or Gemm. */
  kind: 'table' | 'product';
  weight: WeightMatrix;
}

/** Find the nodes whose weights are quantized in blocks, control flow bodies included. Report the other nodes. */
export function findBlockUses(model: Model, exclude: readonly string[], report: TransformReport): BlockUse[] {
  const root = model.graph;
  const angles = anglesOf(model);
  const uses: BlockUse[] = [];
  const isSound = finiteness();
  const inFloat = floatTables(root, exclude, ['MatMul', 'Gemm', 'Gather'], isBlockLookup);
  for (const graph of root.all()) {
    const index = new GraphIndex(graph);
    for (const node of graph.nodes) {
      if (node.domain !== '' || !['MatMul', 'Gemm', 'Gather'].includes(node.opType)) continue;
      if (isExcluded(node, exclude) || angles.has(node)) {
        report.keep(nodeName(node), angles.has(node) ? ofAngles : 'the request excludes it');
        continue;
      }
      const use = siteOf(graph, index, node, { report, isSound, inFloat });
      if (use !== undefined) uses.push(use);
    }
  }
  return uses;
}

/** Whether a node other than a lookup, or a lookup whose table has a form in blocks. */
const isBlockLookup = (node: NodeProto): boolean =>
  node.opType !== 'Gather' || intAttribute(node, 'axis', 0) === 0;

interface Finding {
  report: TransformReport;
  isSound(tensor: Tensor): boolean;
  /** Tables that other nodes use in float. */
  inFloat: ReadonlySet<Tensor>;
}

function siteOf(
  graph: Graph,
  index: GraphIndex,
  node: NodeProto,
  { report, isSound, inFloat }: Finding,
): BlockUse | undefined {
  const kind = node.opType === 'Gather' ? 'table' : 'product';
  const found =
    kind === 'table'
      ? { tensor: graph.initializer(node.input[0] ?? ''), transposed: true }
      : rightSide(graph, index, node.input[1] ?? '');
  if (found?.tensor === undefined) {
    if (kind === 'product') report.keep(nodeName(node), 'both inputs of the product are computed');
    return undefined;
  }
  const { tensor } = found;
  const why =
    objection(tensor, kind, node) ??
    (isSound(tensor) ? undefined : 'its weight contains NaN or infinite values') ??
    (inFloat.has(tensor) ? usedInFloat : undefined);
  if (why !== undefined) {
    // Lookups in tables that are not float, such as shapes, are not reported.
    if (isFloatTensor(tensor)) report.keep(nodeName(node), why);
    return undefined;
  }
  const transposed = found.transposed || (node.opType === 'Gemm' && intAttribute(node, 'transB', 0) === 1);
  const [rows = 0, columns = 0] = tensor.dims;
  const weight = { tensor, k: transposed ? columns : rows, n: transposed ? rows : columns, transposed };
  return { graph, node, kind, weight };
}

interface Found {
  tensor: Tensor;
  transposed: boolean;
}

/** Return the right operand of a product: a constant matrix, or the transpose of one. */
function rightSide(graph: Graph, index: GraphIndex, name: string): Found | undefined {
  const tensor = graph.initializer(name);
  if (tensor !== undefined) return { tensor, transposed: false };
  const producer = index.producer(name);
  if (producer === undefined || !isSwap(producer)) return undefined;
  // A constant of more than two axes is refused by its dimensions.
  const below = graph.initializer(producer.input[0] ?? '');
  return below && { tensor: below, transposed: true };
}

/** Smallest block size of ONNX Runtime's operators. */
const leastBlockSize = 16;

/** Whether the rows of a table divide into blocks. Those of a product may end with a shorter block. */
export const fitsBlocks = (dims: readonly number[]): boolean => (dims[1] ?? 0) % leastBlockSize === 0;

/**
 * Return the block size of a weight: that of the request, unless its rows are shorter or, in a table, not a multiple
 * of it.
 */
export function blockSizeOf(wanted: number, { k }: WeightMatrix, isTable: boolean): number {
  let size = wanted;
  if (isTable) while (k % size !== 0) size /= 2;
  else while (size > usualBlockSize && size / 2 >= k) size /= 2;
  return size;
}

/** Return the reason why a constant cannot be quantized in blocks. Undefined if it can. */
function objection({ type, dims }: Tensor, kind: BlockUse['kind'], node: NodeProto): string | undefined {
  if (type !== 'float' && type !== 'float16') return `its weight is ${type}, not float or float16`;
  if (dims.length !== 2) return `its weight has ${dims.length} dimensions, not 2`;
  if (dims.includes(0)) return 'its weight is empty';
  if (!isBlockLookup(node)) return 'it looks up along an axis other than 0';
  if (kind === 'table' && !fitsBlocks(dims))
    return `its rows of ${dims[1]} values are not a multiple of the smallest block size, ${leastBlockSize}`;
  if (node.opType !== 'Gemm') return undefined;
  const isPlain =
    intAttribute(node, 'transA', 0) === 0 &&
    floatAttribute(node, 'alpha', 1) === 1 &&
    floatAttribute(node, 'beta', 1) === 1;
  return isPlain ? undefined : 'its factors or its transposed input have no block form';
}

/** Return the observed input of each weight of a product, by their names. */
export function observedInputs(
  uses: readonly BlockUse[],
  observed: ReadonlyMap<string, unknown>,
): ReadonlyMap<string, string> {
  return new Map(
    uses
      .filter(({ kind, node }) => kind === 'product' && observed.has(node.input[0] ?? ''))
      .map(({ node, weight }) => [weight.tensor.name, node.input[0] ?? '']),
  );
}

/** Return the error for a model without a weight that can be quantized in blocks. */
export const nothingForBlocks = (root: Graph, report: TransformReport): ModelError =>
  new ModelError(
    `The model has no constant float weight of MatMul, Gemm or Gather that can be quantized in blocks; static methods quantize convolutions.${report.keptText()}${weightsInBodies(root)}`,
  );
