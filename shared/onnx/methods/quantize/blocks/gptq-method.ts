import { type Curvature, curvatureOf, largestFirst } from '../../calibrate/curvature.ts';
import type { CalibrationStatistics } from '../../calibrate/statistics-file.ts';
import type { TransformReport } from '../../report/report.ts';
import type { BlockMemory } from './block-memory.ts';
import { type BlockFormat, blockCount, type Matrix } from './block-quantize.ts';
import { bestBlockScale, levelOf, reciprocalOf } from './block-scale.ts';
import { type BlockMethod, type BlockUse, observedInputs } from './block-weight.ts';
import { leastErrorMethod } from './levels-by-block.ts';
import { type BlockLevels, packBlocks } from './pack-blocks.ts';

/**
 * GPTQ for weights with observed inputs. Other weights use the method without data: tables, which have no inputs,
 * and products whose input no sample reached.
 */
export const gptqMethod =
  (statistics: CalibrationStatistics, report: TransformReport, memory: BlockMemory) =>
  (uses: readonly BlockUse[]): BlockMethod => {
    const inputs = observedInputs(uses, statistics);
    const tables = new Set(
      uses.filter(({ kind }) => kind === 'table').map(({ weight }) => weight.tensor.name),
    );
    const curvatures = new Curvatures(statistics);
    const leastError = leastErrorMethod(memory);
    return (matrix, format, weight) => {
      const input = inputs.get(weight.tensor.name) ?? '';
      const blocks = memory.blocks('gptq', matrix, format, statistics.get(input), () => {
        const curvature = curvatures.of(input);
        return curvature && packBlocks(matrix, gptqLevels(matrix, curvature, format), format);
      });
      if (blocks !== undefined) return blocks;
      if (!tables.has(weight.tensor.name)) {
        report.notes.push(
          `${weight.tensor.name} is quantized as by weight_only_mse: its inputs were not observed, were always zero, or are too wide.`,
        );
      }
      return leastError(matrix, format, weight);
    };
  };

/** Cache of the curvature of one input. Queries, keys and values share theirs. */
class Curvatures {
  readonly #statistics: CalibrationStatistics;
  #input = '';
  #curvature: Curvature | undefined;

  constructor(statistics: CalibrationStatistics) {
    this.#statistics = statistics;
  }

  of(input: string): Curvature | undefined {
    if (input !== this.#input) {
      this.#input = input;
      const observed = this.#statistics.get(input);
      const moment = observed?.moment();
      this.#curvature = observed && moment && curvatureOf(moment, observed.channels, largestFirst);
    }
    return this.#curvature;
  }
}

/** Rows of the weight that are processed together. They share one read of the factor. */
const tile = 8;

/**
 * Return the levels of a weight that change the product with inputs of this curvature least: GPTQ (Frantar et al.,
 * 2023). The scales of all blocks are fixed beforehand by least squared error. Columns are processed in the order
 * of the curvature, but blocks keep their place.
 */
export function gptqLevels(
  { values, k, n, strideK, strideN }: Matrix,
  curvature: Curvature,
  format: BlockFormat,
): BlockLevels {
  const blocks = blockCount(k, format.blockSize);
  const blockLevels: BlockLevels = {
    levels: new Uint8Array(n * k),
    scales: new Float32Array(n * blocks),
    zeroPoints: new Uint8Array(n * blocks),
  };
  for (let first = 0; first < n; first += tile) {
    const count = Math.min(tile, n - first);
    const rows = { values: new Float64Array(count * k), first, count };
    for (let row = 0; row < count; row += 1) {
      for (let at = 0; at < k; at += 1) {
        rows.values[row * k + at] = values[(first + row) * strideN + at * strideK] ?? 0;
      }
    }
    putScales(rows, { k, ...format }, curvature.diagonal, blockLevels);
    putLevels(rows, { k, ...format }, curvature, blockLevels);
  }
  return blockLevels;
}

/** The format of rows, and their length. */
type RowFormat = BlockFormat & { k: number };

/** Rows of the weight in quantization, with columns in their original order. */
interface Rows {
  values: Float64Array;
  first: number;
  count: number;
}

/**
 * Compute the scales of the rows' blocks from the original weight. Columns are not processed block by block, so
 * every scale must be known in advance.
 */
function putScales(
  { values, first, count }: Rows,
  { k, bits, symmetric, blockSize }: RowFormat,
  diagonal: Float64Array,
  blockLevels: BlockLevels,
): void {
  const blocks = blockCount(k, blockSize);
  for (let row = 0; row < count; row += 1) {
    for (let block = 0; block < blocks; block += 1) {
      const [start, end] = [block * blockSize, Math.min(k, (block + 1) * blockSize)];
      const part = {
        values: values.subarray(row * k + start, row * k + end),
        weights: diagonal.subarray(start, end),
      };
      const { scale, zeroPoint } = bestBlockScale(part, bits, symmetric);
      blockLevels.scales[(first + row) * blocks + block] = scale;
      blockLevels.zeroPoints[(first + row) * blocks + block] = zeroPoint;
    }
  }
}

/**
 * Quantize columns in the order of the curvature. Distribute the error of each column over the later columns, as
 * far as they can compensate for it.
 */
function putLevels(
  { values, first, count }: Rows,
  { k, bits, blockSize }: RowFormat,
  { order, factor }: Curvature,
  blockLevels: BlockLevels,
): void {
  const blocks = blockCount(k, blockSize);
  const most = 2 ** bits - 1;
  // Stored in processing order, which keeps the remaining columns contiguous.
  const left = new Float64Array(count * k);
  for (let row = 0; row < count; row += 1) {
    for (let at = 0; at < k; at += 1) left[row * k + at] = values[row * k + (order[at] ?? 0)] ?? 0;
  }
  for (let at = 0; at < k; at += 1) {
    const column = order[at] ?? 0;
    const pivot = factor[at * k + at] ?? 1;
    for (let row = 0; row < count; row += 1) {
      const block = (first + row) * blocks + Math.floor(column / blockSize);
      const [scale, zeroPoint] = [blockLevels.scales[block] ?? 0, blockLevels.zeroPoints[block] ?? 0];
      const value = left[row * k + at] ?? 0;
      const level = levelOf(value, reciprocalOf(scale), zeroPoint, most);
      blockLevels.levels[(first + row) * k + column] = level;
      const error = (value - (level - zeroPoint) * scale) / pivot;
      const [base, turn] = [row * k, at * k];
      for (let next = at + 1; next < k; next += 1) {
        left[base + next] = (left[base + next] ?? 0) - error * (factor[turn + next] ?? 0);
      }
    }
  }
}
