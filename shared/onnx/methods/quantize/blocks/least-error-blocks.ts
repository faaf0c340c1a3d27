import { blockCount, blockSize, type Matrix } from './block-quantize.ts';
import { bestBlockScale, levelOf, reciprocalOf } from './block-scale.ts';
import type { BlockFormat, BlockMethod } from './block-weight.ts';
import { type BlockLevels, packBlocks } from './weight-only.ts';

/**
 * Choose for each block the scale that has the least squared error, and round the block's values to the nearest level
 * at that scale. So a few large values in a block do not make all others coarse. This needs no data.
 */
export const leastErrorLevels: BlockMethod = (matrix, format) => {
  const { k, n } = matrix;
  const blocks = blockCount(k);
  const found: BlockLevels = {
    levels: new Uint8Array(n * k),
    scales: new Float32Array(n * blocks),
    zeroPoints: new Uint8Array(n * blocks),
  };
  const room = new Float64Array(blockSize);
  for (let row = 0; row < n; row += 1) {
    for (let block = 0; block < blocks; block += 1) putBlock(matrix, [row, block], format, { found, room });
  }
  return packBlocks(matrix, found, format.bits, format.symmetric);
};

const alike = new Float64Array(blockSize).fill(1);

/** Quantize one block of a row into `found`. `values` is a buffer for the block. */
function putBlock(
  { values: all, k, strideK, strideN }: Matrix,
  [row, block]: readonly [number, number],
  { bits, symmetric }: BlockFormat,
  { found, room }: { found: BlockLevels; room: Float64Array },
): void {
  const [start, end] = [block * blockSize, Math.min(k, (block + 1) * blockSize)];
  const values = room.subarray(0, end - start);
  for (let at = start; at < end; at += 1) values[at - start] = all[row * strideN + at * strideK] ?? 0;
  const { scale, zeroPoint } = bestBlockScale({ values, weights: alike }, bits, symmetric);
  const place = row * blockCount(k) + block;
  found.scales[place] = scale;
  found.zeroPoints[place] = zeroPoint;
  const reciprocal = reciprocalOf(scale);
  for (let at = start; at < end; at += 1) {
    found.levels[row * k + at] = levelOf(values[at - start] ?? 0, reciprocal, zeroPoint, 2 ** bits - 1);
  }
}
