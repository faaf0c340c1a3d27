import { type Blocks, blockCount, blockSize, type Matrix } from './block-quantize.ts';

/** Levels of a weight [N, K], and scale and zero point of each of its blocks [N, blocks], all row-major. */
export interface BlockLevels {
  levels: Uint8Array;
  scales: Float32Array;
  zeroPoints: Uint8Array;
}

/** Sums over a row of a weight. */
interface Sums {
  squaredError: number;
  squaredNorm: number;
}

/** Zero points as they are stored: bytes, or nibbles of which an odd one out is filled up with the middle. */
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

function packRow(
  { values, k, strideK, strideN }: Matrix,
  { levels, scales, zeroPoints }: BlockLevels,
  row: number,
  { packed, bits }: { packed: Uint8Array; bits: 4 | 8 },
): Sums {
  const blocks = blockCount(k);
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

/** Levels as com.microsoft MatMulNBits takes them, with the error that they make of a matrix. */
export function packBlocks(matrix: Matrix, found: BlockLevels, bits: 4 | 8, symmetric: boolean): Blocks {
  const { k, n } = matrix;
  const blocks = blockCount(k);
  const packed = new Uint8Array((n * blocks * blockSize * bits) / 8);
  const sums = { squaredError: 0, squaredNorm: 0 };
  for (let row = 0; row < n; row += 1) {
    const { squaredError, squaredNorm } = packRow(matrix, found, row, { packed, bits });
    sums.squaredError += squaredError;
    sums.squaredNorm += squaredNorm;
  }
  const zeroPoints = symmetric ? undefined : packedZeroPoints(found.zeroPoints, n, blocks, bits);
  return { packed, scales: found.scales, zeroPoints, ...sums };
}
