import type { BlockMemory } from './block-memory.ts';
import {
  type BlockFormat,
  type Blocks,
  blockCount,
  type Matrix,
  quantizeBlocks,
  usualBlockSize,
} from './block-quantize.ts';
import {
  type BlockScale,
  bestBlockScale,
  blockScale,
  levelOf,
  reciprocalOf,
  type WeightedBlock,
} from './block-scale.ts';
import type { BlockMethod } from './block-weight.ts';
import { type BlockLevels, packBlocks } from './pack-blocks.ts';

/** Return scale and zero point of a block. */
type ScaleOf = (block: WeightedBlock, format: BlockFormat) => BlockScale;

/** How the blocks of a matrix get their scales. `weights` are those of the errors along K, by default all the same. */
interface Scaling {
  scaleOf: ScaleOf;
  weights?: Float64Array | undefined;
}

/** Round the values of each block to the nearest level, at a scale that depends on this block alone. */
function levelsByBlock(matrix: Matrix, format: BlockFormat, scaling: Scaling): Blocks {
  const { k, n } = matrix;
  const blocks = blockCount(k, format.blockSize);
  const blockLevels: BlockLevels = {
    levels: new Uint8Array(n * k),
    scales: new Float32Array(n * blocks),
    zeroPoints: new Uint8Array(n * blocks),
  };
  const values = new Float64Array(k);
  for (let row = 0; row < n; row += 1) {
    for (let at = 0; at < k; at += 1)
      values[at] = matrix.values[row * matrix.strideN + at * matrix.strideK] ?? 0;
    for (let block = 0; block < blocks; block += 1) {
      const part = { from: block * format.blockSize, place: row * blocks + block, row };
      putBlock(values, part, format, scaling, blockLevels);
    }
  }
  return packBlocks(matrix, blockLevels, format);
}

/** Quantize one block of a row into `found`. */
function putBlock(
  row: Float64Array,
  { from, place, row: number }: { from: number; place: number; row: number },
  format: BlockFormat,
  { scaleOf, weights }: Scaling,
  blockLevels: BlockLevels,
): void {
  const end = from + format.blockSize;
  const values = row.subarray(from, end);
  const { scale, zeroPoint } = scaleOf({ values, weights: weights?.subarray(from, end) }, format);
  blockLevels.scales[place] = scale;
  blockLevels.zeroPoints[place] = zeroPoint;
  const reciprocal = reciprocalOf(scale);
  for (const [at, value] of values.entries())
    blockLevels.levels[number * row.length + from + at] = levelOf(
      value,
      reciprocal,
      zeroPoint,
      2 ** format.bits - 1,
    );
}

/** Round each value to the nearest level. The range of a block sets its scale, as in ONNX Runtime's quantizer. */
export const nearestLevels: BlockMethod = (matrix, format) =>
  format.blockSize === usualBlockSize
    ? quantizeBlocks(matrix, format.bits, format.symmetric)
    : levelsByBlock(matrix, format, {
        scaleOf: ({ values }, { bits, symmetric }) =>
          blockScale(Math.min(0, ...values), Math.max(0, ...values), bits, symmetric),
      });

/**
 * Choose for each block the scale that has the least squared error, and round the block's values to the nearest level
 * at that scale. So a few large values in a block do not make all others coarse. This needs no data.
 */
export const leastErrorLevels: BlockMethod = (matrix, format) => weightedLevels(matrix, format, undefined);

/** The same, with the blocks that are in memory. */
export const leastErrorMethod =
  (memory: BlockMemory): BlockMethod =>
  (matrix, format) =>
    memory.blocks('least error', matrix, format, undefined, () => weightedLevels(matrix, format, undefined));

/** Do the same with the squared error of each value weighted by that of its place along K. */
export const weightedLevels = (
  matrix: Matrix,
  format: BlockFormat,
  weights: Float64Array | undefined,
): Blocks =>
  levelsByBlock(matrix, format, {
    scaleOf: (block, { bits, symmetric }) => bestBlockScale(block, bits, symmetric),
    weights,
  });
