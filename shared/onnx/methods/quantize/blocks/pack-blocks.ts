import { type BlockFormat, type Blocks, blockCount, type Matrix } from './block-quantize.ts';

/** Pack levels into the format of com.microsoft MatMulNBits, and compute their error relative to a matrix. */
export function packBlocks(
  matrix: Matrix,
  blockLevels: BlockLevels,
  { bits, symmetric, blockSize }: BlockFormat,
): Blocks {
  const { k, n } = matrix;
  const blocks = blockCount(k, blockSize);
  const packed = new Uint8Array((n * blocks * blockSize * bits) / 8);
  const sums = { squaredError: 0, squaredNorm: 0 };
  for (let row = 0; row < n; row += 1) {
    const { squaredError, squaredNorm } = packRow(matrix, blockLevels, row, { packed, bits, blockSize });
    sums.squaredError += squaredError;
    sums.squaredNorm += squaredNorm;
  }
  const zeroPoints = symmetric ? undefined : packedZeroPoints(blockLevels.zeroPoints, n, blocks, bits);
  return { packed, scales: blockLevels.scales, zeroPoints, ...sums };
}

/** Levels of a weight [N, K], and scales and zero points of its blocks [N, blocks], all row-major. */
export interface BlockLevels {
  levels: Uint8Array;
  scales: Float32Array;
  zeroPoints: Uint8Array;
}

/** Squared sums over a row of a weight. */
interface Sums {
  squaredError: number;
  squaredNorm: number;
}

function packRow(
  { values, k, strideK, strideN }: Matrix,
  { levels, scales, zeroPoints }: BlockLevels,
  row: number,
  { packed, bits, blockSize }: { packed: Uint8Array; bits: 4 | 8; blockSize: number },
): Sums {
  const blocks = blockCount(k, blockSize);
  const sums = { squaredError: 0, squaredNorm: 0 };
  for (let at = 0; at < k; at += 1) {
    const block = row * blocks + Math.floor(at / blockSize);
    const level = levels[row * k + at] ?? 0;
    const value = values[row * strideN + at * strideK] ?? 0;
    const error = (level - (zeroPoints[block] ?? 0)) * (scales[block] ?? 0) - value;
    sums.squaredError += error * error;
    sums.squaredNorm += value * value;
    const place = row * blocks * blockSize + at;
    if (bits === 8) packed[place] = level;
    else packed[place >> 1] = (packed[place >> 1] ?? 0) | (level << (4 * (at & 1)));
  }
  return sums;
}

/** Pack zero points into bytes or nibbles. An unused nibble contains the middle level. */
function packedZeroPoints(zeroPoints: Uint8Array, n: number, blocks: number, bits: 4 | 8): Uint8Array {
  if (bits === 8) return zeroPoints;
  const width = Math.ceil(blocks / 2);
  const bytes = new Uint8Array(n * width);
  for (let row = 0; row < n; row += 1) {
    for (let at = 0; at < width; at += 1) {
      const low = zeroPoints[row * blocks + 2 * at] ?? 0;
      const high = 2 * at + 1 < blocks ? (zeroPoints[row * blocks + 2 * at + 1] ?? 0) : 8;
      bytes[row * width + at] = low | (high << 4);
    }
  }
  return bytes;
}
