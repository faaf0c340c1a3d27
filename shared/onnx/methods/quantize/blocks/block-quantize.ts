import { blockScale, levelOf, reciprocalOf } from './block-scale.ts';

/** A matrix with K rows (summed over) and N columns (outputs), with its memory layout. */
export interface Matrix {
  values: Float32Array;
  k: number;
  n: number;
  /** Distance in values between neighbours along K (`strideK`) and along N (`strideN`). */
  strideK: number;
  strideN: number;
}

/** Weights in blocks along K in the format of com.microsoft MatMulNBits. */
export interface Blocks {
  /** [N, blocks, blockSize · bits / 8]: values, low nibble first. Padding beyond K is 0. */
  packed: Uint8Array;
  /** [N, blocks]. */
  scales: Float32Array;
  /**
   * [N, ⌈blocks · bits / 8⌉], low nibble first. Undefined if all zero points are the middle level, 2^(bits − 1).
   */
  zeroPoints: Uint8Array | undefined;
  /** ‖w′ − w‖² and ‖w‖². */
  squaredError: number;
  squaredNorm: number;
}

/** Weights per block along K. */
export const blockSize = 32;

/** Return the number of blocks along K. The last one may be shorter. */
export const blockCount = (k: number): number => Math.ceil(k / blockSize);

/** Columns per tile. The rows of 32 of a tile stay in the cache until they are written out by column. */
const tile = 64;

/**
 * Quantize weights in blocks of 32 along K. Each weight is multiplied by the reciprocal of the scale in float32
 * and rounded half away from zero, as in ONNX Runtime's block quantizer. The results are bit-identical.
 */
export function quantizeBlocks(matrix: Matrix, bits: 4 | 8, symmetric: boolean): Blocks {
  const { k, n } = matrix;
  const blocks = blockCount(k);
  const perByte = 8 / bits;
  const result: Blocks = {
    packed: new Uint8Array(n * blocks * (blockSize / perByte)),
    scales: new Float32Array(n * blocks),
    zeroPoints: symmetric ? undefined : filledZeroPoints(n, blocks, bits),
    squaredError: 0,
    squaredNorm: 0,
  };
  for (let first = 0; first < n; first += tile) {
    const last = Math.min(n, first + tile);
    for (let block = 0; block < blocks; block += 1) {
      for (let column = first; column < last; column += 1) {
        quantizeBlock(matrix, result, { column, block, blocks, bits, symmetric });
      }
    }
  }
  return result;
}

/** Allocate the zero points. With an odd number of nibbles, the unused half byte contains the middle level. */
function filledZeroPoints(n: number, blocks: number, bits: 4 | 8): Uint8Array {
  const bytes = new Uint8Array(n * Math.ceil((blocks * bits) / 8));
  return bits === 4 && blocks % 2 === 1 ? bytes.fill(0x80) : bytes;
}

interface BlockPosition {
  column: number;
  block: number;
  blocks: number;
  bits: 4 | 8;
  symmetric: boolean;
}

function quantizeBlock(
  { values, k, strideK, strideN }: Matrix,
  result: Blocks,
  { column, block, blocks, bits, symmetric }: BlockPosition,
): void {
  const start = column * strideN + block * blockSize * strideK;
  const length = Math.min(blockSize, k - block * blockSize);
  let low = 0;
  let high = 0;
  for (let at = 0, from = start; at < length; at += 1, from += strideK) {
    const value = values[from] ?? 0;
    if (value < low) low = value;
    else if (value > high) high = value;
  }
  const { scale, zeroPoint } = blockScale(low, high, bits, symmetric);
  const reciprocal = reciprocalOf(scale);
  const most = 2 ** bits - 1;
  const place = column * blocks + block;
  result.scales[place] = scale;
  if (result.zeroPoints !== undefined)
    putZeroPoint(result.zeroPoints, { column, block, blocks, bits }, zeroPoint);
  let target = place * (bits === 4 ? blockSize / 2 : blockSize);
  for (let at = 0, from = start; at < length; at += 1, from += strideK) {
    const value = values[from] ?? 0;
    const level = levelOf(value, reciprocal, zeroPoint, most);
    const error = (level - zeroPoint) * scale - value;
    result.squaredError += error * error;
    result.squaredNorm += value * value;
    if (bits === 8) {
      result.packed[target] = level;
      target += 1;
    } else if ((at & 1) === 0) result.packed[target] = level;
    else {
      result.packed[target] = (result.packed[target] ?? 0) | (level << 4);
      target += 1;
    }
  }
}

function putZeroPoint(
  zeroPoints: Uint8Array,
  { column, block, blocks, bits }: Omit<BlockPosition, 'symmetric'>,
  zeroPoint: number,
): void {
  if (bits === 8) zeroPoints[column * blocks + block] = zeroPoint;
  else {
    const at = column * Math.ceil(blocks / 2) + (block >> 1);
    const byte = zeroPoints[at] ?? 0;
    zeroPoints[at] = block % 2 === 0 ? (byte & 0xf0) | zeroPoint : (byte & 0x0f) | (zeroPoint << 4);
  }
}
