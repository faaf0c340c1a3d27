import { kernels, maxValues, place, roundedUp } from '../../../model/kernels/kernels.ts';

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

/** How weights are stored in blocks. */
export interface BlockFormat {
  bits: 4 | 8;
  symmetric: boolean;
  /** Weights per block along K. */
  blockSize: number;
}

/** Weights per block along K, unless a request gives another number. */
export const usualBlockSize = 32;

/** Return the number of blocks along K. The last one may be shorter. */
export const blockCount = (k: number, blockSize: number): number => Math.ceil(k / blockSize);

/** Block size of the kernel. */
const blockSize = usualBlockSize;

/**
 * Quantize weights in blocks of 32 along K. Each weight is multiplied by the reciprocal of the scale in float32
 * and rounded half away from zero, as in ONNX Runtime's block quantizer. The results are bit-identical.
 */
export function quantizeBlocks(matrix: Matrix, bits: 4 | 8, symmetric: boolean): Blocks {
  const { k, n } = matrix;
  const blocks = blockCount(k, blockSize);
  const result: Blocks = {
    packed: new Uint8Array((n * blocks * blockSize * bits) / 8),
    scales: new Float32Array(n * blocks),
    zeroPoints: symmetric ? undefined : filledZeroPoints(n, blocks, bits),
    squaredError: 0,
    squaredNorm: 0,
  };
  const { sums } = kernels();
  sums.fill(0);
  const rows = Math.min(roundedUp(k, blockSize), mostRows);
  const columns = Math.min(mostColumns, Math.floor(maxValues / rows));
  for (let column = 0; column < n; column += columns)
    for (let row = 0; row < k; row += rows) {
      const tile = { column, columns: Math.min(columns, n - column), row, rows: Math.min(rows, k - row) };
      quantizeTile(matrix, result, tile, { bits, symmetric });
    }
  const [lost = 0, alsoLost = 0, norm = 0, alsoNorm = 0] = sums;
  result.squaredError = lost + alsoLost;
  result.squaredNorm = norm + alsoNorm;
  return result;
}

/** Rows (along K) and columns of a tile: its values have room beside their results. */
const mostRows = 256;
const mostColumns = 256;

/** Allocate the zero points. With an odd number of nibbles, the unused half byte contains the middle level. */
function filledZeroPoints(n: number, blocks: number, bits: 4 | 8): Uint8Array {
  const bytes = new Uint8Array(n * Math.ceil((blocks * bits) / 8));
  return bits === 4 && blocks % 2 === 1 ? bytes.fill(0x80) : bytes;
}

/** A part of a matrix: `columns` outputs from `column` on, and `rows` summed values from `row` on. */
interface Tile {
  column: number;
  columns: number;
  row: number;
  rows: number;
}

function quantizeTile(
  matrix: Matrix,
  result: Blocks,
  tile: Tile,
  { bits, symmetric }: { bits: 4 | 8; symmetric: boolean },
): void {
  const { column, columns, row, rows } = tile;
  const { packed, scales, zeroPoints } = result;
  const { quantizeBlocks: quantize, bytes, floats } = kernels();
  const width = roundedUp(rows, blockSize);
  loadTile(matrix, tile, width);
  const end = place.values + 4 * columns * width;
  const { values, results, first, second } = place;
  quantize(values, end, 2 ** bits - 1, symmetric ? 1 : 0, results, first, second, place.sums);
  const [blocks, own] = [blockCount(matrix.k, blockSize), width / blockSize];
  const blockBytes = (blockSize * bits) / 8;
  for (let at = 0; at < columns; at += 1) {
    const to = (column + at) * blocks + row / blockSize;
    const from = results + at * own * blockBytes;
    packed.set(bytes.subarray(from, from + own * blockBytes), to * blockBytes);
    scales.set(floats.subarray(first / 4 + at * own, first / 4 + (at + 1) * own), to);
    if (rows < width) clearRest(packed.subarray(to * blockBytes, (to + own) * blockBytes), rows, bits);
    if (zeroPoints === undefined) continue;
    for (let block = 0; block < own; block += 1)
      putZeroPoint(
        zeroPoints,
        { column: column + at, block: row / blockSize + block, blocks, bits },
        bytes[second + at * own + block] ?? 0,
      );
  }
}

/** Load a tile with the values of a column next to each other, and zeros up to a whole block. */
function loadTile(
  { values, strideK, strideN }: Matrix,
  { column, columns, row, rows }: Tile,
  width: number,
): void {
  const { floats } = kernels();
  const to = place.values / 4;
  if (width > rows) floats.fill(0, to, to + columns * width);
  if (strideK === 1) {
    for (let at = 0; at < columns; at += 1) {
      const from = (column + at) * strideN + row;
      floats.set(values.subarray(from, from + rows), to + at * width);
    }
    return;
  }
  // Four rows at a time: a line of the cache is then written once.
  const whole = rows & -4;
  for (let along = 0; along < whole; along += 4) {
    const from = (row + along) * strideK + column * strideN;
    for (let at = 0, next = to + along; at < columns; at += 1, next += width) {
      const place = from + at * strideN;
      floats[next] = values[place] ?? 0;
      floats[next + 1] = values[place + strideK] ?? 0;
      floats[next + 2] = values[place + 2 * strideK] ?? 0;
      floats[next + 3] = values[place + 3 * strideK] ?? 0;
    }
  }
  for (let along = whole; along < rows; along += 1) {
    const from = (row + along) * strideK + column * strideN;
    for (let at = 0; at < columns; at += 1)
      floats[to + at * width + along] = values[from + at * strideN] ?? 0;
  }
}

/** Clear the levels of the padding behind `count` values. */
function clearRest(levels: Uint8Array, count: number, bits: 4 | 8): void {
  const whole = (count * bits) >> 3;
  levels.fill(0, Math.ceil((count * bits) / 8));
  if ((count * bits) % 8 !== 0) levels[whole] = (levels[whole] ?? 0) & 0x0f;
}

interface BlockPosition {
  column: number;
  block: number;
  blocks: number;
  bits: 4 | 8;
}

function putZeroPoint(
  zeroPoints: Uint8Array,
  { column, block, blocks, bits }: BlockPosition,
  zeroPoint: number,
): void {
  if (bits === 8) zeroPoints[column * blocks + block] = zeroPoint;
  else {
    const at = column * Math.ceil(blocks / 2) + (block >> 1);
    const byte = zeroPoints[at] ?? 0;
    zeroPoints[at] = block % 2 === 0 ? (byte & 0xf0) | zeroPoint : (byte & 0x0f) | (zeroPoint << 4);
  }
}
