import { lazyTensor, type Tensor } from '../../../model/tensor/tensor.ts';
import { withFloats } from '../../../model/tensor/values.ts';
import type { TransformReport } from '../../report/report.ts';
import { type Blocks, blockCount, blockSize, type Matrix, quantizeBlocks } from './block-quantize.ts';

/** A constant matrix among the weights, and how it lies: [K, N], or transposed, [N, K]. */
export interface WeightMatrix {
  tensor: Tensor;
  k: number;
  n: number;
  transposed: boolean;
}

export interface BlockFormat {
  bits: 4 | 8;
  symmetric: boolean;
}

/** The constants that take a weight's place. */
export interface BlockTensors {
  packed: Tensor;
  scales: Tensor;
  /** Undefined where all are the middle. */
  zeroPoints: Tensor | undefined;
}

const matrixOf = ({ k, n, transposed }: WeightMatrix, values: Float32Array): Matrix => ({
  values,
  k,
  n,
  strideK: transposed ? 1 : n,
  strideN: transposed ? k : 1,
});

/** How a weight becomes blocks. The matrix is the weight's values, as they lie. */
export type BlockMethod = (matrix: Matrix, format: BlockFormat, weight: WeightMatrix) => Blocks;

/** Each value to the level that is nearest. */
export const nearestLevels: BlockMethod = (matrix, { bits, symmetric }) =>
  quantizeBlocks(matrix, bits, symmetric);

/** Keeps the blocks of one weight at a time: its three constants are written one after the other. */
export class BlockCache {
  readonly #method: BlockMethod;
  #weight: WeightMatrix | undefined;
  #blocks: Blocks | undefined;

  constructor(method: BlockMethod) {
    this.#method = method;
  }

  blocks(weight: WeightMatrix, format: BlockFormat): Blocks {
    if (this.#weight !== weight || this.#blocks === undefined) {
      // The former one goes before the next one comes.
      this.#blocks = undefined;
      this.#weight = weight;
      this.#blocks = withFloats(weight.tensor, (values) =>
        this.#method(matrixOf(weight, values), format, weight),
      );
    }
    return this.#blocks;
  }
}

/**
 * The constants of a weight in blocks, computed when they are written. `layer` gets the weight's error then. The values
 * are shaped [N, blocks, bytes] for a matrix product, or [N, K · bits / 8] for a table.
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
  const { bits, symmetric } = format;
  const blocks = blockCount(weight.k);
  const blockBytes = (blockSize * bits) / 8;
  const computed = (): Blocks => {
    const result = cache.blocks(weight, format);
    layer.error = result.squaredNorm === 0 ? 0 : Math.sqrt(result.squaredError / result.squaredNorm);
    return result;
  };
  const asBytes = ({ buffer, byteOffset, byteLength }: Float32Array) =>
    new Uint8Array(buffer, byteOffset, byteLength);
  const dims = shape === 'product' ? [weight.n, blocks, blockBytes] : [weight.n, (weight.k * bits) / 8];
  const zeroDims = [weight.n, Math.ceil((blocks * bits) / 8)];
  return {
    packed: lazyTensor(`${name}_Q${bits}`, 'uint8', dims, () => computed().packed),
    scales: lazyTensor(`${name}_scales`, 'float', [weight.n, blocks], () => asBytes(computed().scales)),
    zeroPoints: symmetric
      ? undefined
      : lazyTensor(`${name}_zero_points`, 'uint8', zeroDims, () => computed().zeroPoints ?? new Uint8Array()),
  };
}
