import { type Model, microsoft, useMicrosoft } from '../../../model/file/model.ts';
import { type Graph, makeNode, Names } from '../../../model/graph/graph.ts';
import { removeUnused } from '../../../model/graph/remove-unused.ts';
import { unfoldEinsum } from '../../../model/graph/unfold-einsum.ts';
import type { NodeProto } from '../../../model/proto/onnx_pb.js';
import { makeInt64s } from '../../../model/tensor/tensor.ts';
import type { QuantizeRequest } from '../../../strategies/quantize-request.ts';
import type { CalibrationStatistics } from '../../calibrate/statistics-file.ts';
import type { TransformReport } from '../../report/report.ts';
import { storeAsLookedUp } from '../dynamic/tied-tables.ts';
import { widenHalf } from '../dynamic/widen-half.ts';
import { foldMoved } from '../fold-weights.ts';
import { foldWidened } from '../fold-widened.ts';
import { BlockMemory } from './block-memory.ts';
import { type BlockFormat, blockCount, usualBlockSize } from './block-quantize.ts';
import {
  BlockCache,
  type BlockMethod,
  type BlockTensors,
  type BlockUse,
  blockSizeOf,
  blockTensors,
  findBlockUses,
  fitsBlocks,
  nothingForBlocks,
  type WeightMatrix,
} from './block-weight.ts';
import { nearestLevels } from './levels-by-block.ts';
import { scaleInputs } from './scale-inputs.ts';

/** Parameters of a request that describe its blocks. */
type BlockRequest = Pick<QuantizeRequest, 'precision' | 'quant_type'> & {
  exclude: readonly string[];
  block_size?: number | null;
  /** Layers that have 8 bits in any case. */
  eightBits?: readonly string[] | undefined;
};

/** How a strategy chooses the levels of weights. */
export interface LevelChoice {
  /** Statistics of the inputs of products. With them, inputs are scaled by channel first. */
  statistics?: CalibrationStatistics;
  /** Return the method for these weights. It gets the statistics of the scaled inputs. */
  methodOf(uses: readonly BlockUse[], statistics: CalibrationStatistics, memory: BlockMemory): BlockMethod;
}

const nearest: LevelChoice = { methodOf: () => nearestLevels };

/**
 * Quantize the weights of matrix products and tables to 4 or 8 bits, in blocks along the summed axis with a
 * float32 scale each (com.microsoft MatMulNBits and GatherBlockQuantized). Values are computed while the model is
 * saved, one weight at a time. The report has their errors after that. The levels are the nearest ones by default.
 *
 * @throws ModelError if the model has no weight that can be quantized in blocks
 */
export function quantizeWeightOnly(
  model: Model,
  { precision, quant_type, exclude, block_size, eightBits = [] }: BlockRequest,
  report: TransformReport,
  { statistics, methodOf }: LevelChoice = nearest,
  memory: BlockMemory = new BlockMemory(),
): void {
  const bits = precision === 8 ? 8 : 4;
  const symmetric = quant_type === 'int4' || quant_type === 'int8';
  const format: BlockFormat = { bits, symmetric, blockSize: block_size ?? usualBlockSize };
  prepareBlocks(model.graph, exclude);
  const scaled = statistics && scaleInputs(model.graph, { exclude, format, memory }, statistics, report);
  const uses = findBlockUses(model, exclude, report);
  if (uses.length === 0) throw nothingForBlocks(model.graph, report);
  const names = new Names(model.graph);
  const store = new BlockStore(
    names,
    uses,
    { format, eightBits, method: methodOf(uses, scaled ?? new Map(), memory) },
    report,
  );
  const byNode = new Map(uses.map((use) => [use.node, use]));
  for (const graph of model.graph.all()) {
    graph.nodes = graph.nodes.flatMap((node) => {
      const use = byNode.get(node);
      return use === undefined ? [node] : replacement(use, store.get(use), names);
    });
  }
  for (const [graph, nodes] of store.reshapes) graph.nodes = [...nodes, ...graph.nodes];
  useMicrosoft(model);
  removeUnused(model.graph);
}

/**
 * Bring the weights into the form in which blocks are found. The CPU provider has no products in bfloat16, so those
 * compute in float32.
 */
export function prepareBlocks(root: Graph, exclude: readonly string[]): void {
  unfoldEinsum(root, exclude);
  // Blocks have two dimensions, and those of a table begin with its rows: other stored weights stay as small as they are.
  foldWidened(
    root,
    exclude,
    ['MatMul', 'Gemm', 'Gather'],
    root.all(),
    ({ opType }, dims) => dims.length === 2 && (opType !== 'Gather' || fitsBlocks(dims)),
  );
  widenHalf(root, exclude, ['bfloat16']);
  storeAsLookedUp(root, exclude);
  foldMoved(root, exclude);
}

interface Stored extends BlockTensors {
  format: BlockFormat;
  /** Name of the values in the shape for a product. This is a reshape of the values if a table shares them. */
  forProduct: string;
}

/** Quantizes each weight once for all its users, even if a table and an output head share it. */
class BlockStore {
  readonly #names: Names;
  readonly #format: BlockFormat;
  readonly #eightBits: ReadonlySet<string>;
  readonly #report: TransformReport;
  readonly #shared: ReadonlySet<string>;
  readonly #cache: BlockCache;
  readonly #stored = new Map<string, Stored>();
  /** Reshape nodes to insert at the start of the graph that holds their constants. */
  readonly reshapes = new Map<Graph, NodeProto[]>();

  constructor(
    names: Names,
    uses: readonly BlockUse[],
    { format, eightBits, method }: { format: BlockFormat; eightBits: readonly string[]; method: BlockMethod },
    report: TransformReport,
  ) {
    this.#names = names;
    this.#cache = new BlockCache(method);
    this.#format = format;
    this.#eightBits = new Set(eightBits);
    this.#report = report;
    this.#shared = new Set(uses.filter(({ kind }) => kind === 'table').map(({ weight }) => keyOf(weight)));
  }

  get({ graph, node, weight }: BlockUse): Stored {
    const key = keyOf(weight);
    const known = this.#stored.get(key);
    if (known !== undefined) return known;
    const { tensor, k, n } = weight;
    const layer = this.#report.addLayer(node, tensor);
    const isTable = this.#shared.has(key);
    const blockSize = blockSizeOf(this.#format.blockSize, weight, isTable);
    const bits = this.#eightBits.has(layer.layer) ? 8 : this.#format.bits;
    const format = { ...this.#format, bits, blockSize };
    const tensors = blockTensors(weight, format, this.#cache, {
      name: this.#names.make(`${tensor.name}_blocks`),
      shape: isTable ? 'table' : 'product',
      layer,
    });
    const owner = ownerOf(graph, tensor.name);
    for (const part of [tensors.packed, tensors.scales, tensors.zeroPoints])
      if (part !== undefined) owner.put(part);
    const forProduct = isTable
      ? this.#reshape(owner, tensors, [n, blockCount(k, blockSize), (blockSize * format.bits) / 8])
      : tensors.packed.name;
    const stored = { ...tensors, forProduct, format };
    this.#stored.set(key, stored);
    return stored;
  }

  #reshape(owner: Graph, { packed }: BlockTensors, dims: readonly number[]): string {
    const shape = owner.put(makeInt64s(this.#names.make(`${packed.name}_shape`), dims));
    const output = this.#names.make(`${packed.name}_as_product`);
    const node = makeNode('Reshape', [packed.name, shape.name], [output], { name: output });
    this.reshapes.set(owner, [...(this.reshapes.get(owner) ?? []), node]);
    return output;
  }
}

const keyOf = ({ tensor, transposed }: WeightMatrix): string => JSON.stringify([tensor.name, transposed]);

/** Return the graph that holds a constant: this one or an outer one. */
function ownerOf(graph: Graph, name: string): Graph {
  if (graph.initializers.has(name) || graph.parent === undefined) return graph;
  return ownerOf(graph.parent, name);
}

/** Compute products with 8-bit activations. This makes 4-bit weights fast on CPUs. */
const accuracyLevel = 4;

function replacement(use: BlockUse, stored: Stored, names: Names): NodeProto[] {
  const { node, kind, weight } = use;
  const { bits, blockSize } = stored.format;
  const [output = ''] = node.output;
  const { name } = node;
  if (kind === 'table') {
    const attributes = { gather_axis: 0, quantize_axis: 1, block_size: blockSize, bits };
    const inputs = [stored.packed.name, node.input[1] ?? '', ...scalesOf(stored)];
    return [makeNode('GatherBlockQuantized', inputs, [output], { name, domain: microsoft, attributes })];
  }
  const attributes = { K: weight.k, N: weight.n, bits, block_size: blockSize, accuracy_level: accuracyLevel };
  const inputs = [node.input[0] ?? '', stored.forProduct, ...scalesOf(stored)];
  const bias = node.opType === 'Gemm' ? (node.input[2] ?? '') : '';
  const product = bias === '' ? output : names.make(`${output}_product`);
  const made = makeNode('MatMulNBits', inputs, [product], { name, domain: microsoft, attributes });
  if (bias === '') return [made];
  return [made, makeNode('Add', [product, bias], [output], { name: names.make(`${name || output}_bias`) })];
}

const scalesOf = (stored: Stored): string[] =>
  stored.zeroPoints === undefined ? [stored.scales.name] : [stored.scales.name, stored.zeroPoints.name];
