import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { curvatureOf, largestFirst } from '../../../../../shared/onnx/methods/calibrate/curvature.ts';
import {
  blockCount,
  type Matrix,
} from '../../../../../shared/onnx/methods/quantize/blocks/block-quantize.ts';
import { gptqLevels } from '../../../../../shared/onnx/methods/quantize/blocks/gptq-method.ts';
import { leastErrorLevels } from '../../../../../shared/onnx/methods/quantize/blocks/levels-by-block.ts';
import {
  type BlockLevels,
  packBlocks,
} from '../../../../../shared/onnx/methods/quantize/blocks/pack-blocks.ts';

interface Packed {
  levels: string;
  scales: string;
  zeros: string;
}

interface BlockCase {
  bits: 4 | 8;
  symmetric: boolean;
  gptq: Packed;
  least_error: Packed;
}

/** What the NumPy programs in `references` answered. */
const { cases, weight, moment, n, k } = JSON.parse(
  readFileSync(join(import.meta.dirname, 'references/blocks.json'), 'utf8'),
) as { cases: BlockCase[]; weight: string; moment: string; n: number; k: number };

const bytesOf = (text: string): ArrayBuffer => new Uint8Array(Buffer.from(text, 'base64')).buffer;
const unpacked = ({ levels, scales, zeros }: Packed): BlockLevels => ({
  levels: new Uint8Array(bytesOf(levels)),
  scales: new Float32Array(bytesOf(scales)),
  zeroPoints: new Uint8Array(bytesOf(zeros)),
});

const matrix: Matrix = { values: new Float32Array(bytesOf(weight)), n, k, strideK: 1, strideN: k };
const moments = new Float64Array(bytesOf(moment));

/** A matrix with its values as [K, N]. */
function turned({ values }: Matrix): Matrix {
  const other = Float32Array.from(values, (_, at) => values[(at % n) * k + Math.floor(at / n)] ?? 0);
  return { values: other, n, k, strideK: n, strideN: 1 };
}

describe.each(cases)('of $bits bits, symmetric $symmetric', (one) => {
  const { bits } = one;
  const format = { bits, symmetric: one.symmetric, blockSize: 32 };

  test('GPTQ chooses the levels, scales and zero points of NumPy`s, however the weight lies', () => {
    const curvature = curvatureOf(moments, k, largestFirst);
    if (curvature === undefined) throw new Error('the moment can be inverted');
    const expected = unpacked(one.gptq);
    expect(gptqLevels(matrix, curvature, format)).toEqual(expected);
    expect(gptqLevels(turned(matrix), curvature, format)).toEqual(expected);
  });

  test('so does the search for the least squared error', () => {
    const unused = { tensor: undefined as never, k, n, transposed: true };
    const blocks = leastErrorLevels(matrix, format, unused);
    expect(blocks).toEqual(packBlocks(matrix, unpacked(one.least_error), format));
    expect(blocks.packed).toHaveLength((n * blockCount(k, 32) * 32 * bits) / 8);
  });

  test('GPTQ loses less of the product than the nearest levels do', () => {
    /** Squared error of the product, by the second moment of its input. */
    const loss = ({ levels, scales, zeroPoints }: BlockLevels): number => {
      let sum = 0;
      for (let row = 0; row < n; row += 1) {
        const errors = Array.from({ length: k }, (_, at) => {
          const block = row * blockCount(k, 32) + Math.floor(at / 32);
          const value = ((levels[row * k + at] ?? 0) - (zeroPoints[block] ?? 0)) * (scales[block] ?? 0);
          return value - (matrix.values[row * k + at] ?? 0);
        });
        for (const [a, left] of errors.entries())
          for (const [b, right] of errors.entries()) sum += left * right * (moments[a * k + b] ?? 0);
      }
      return sum;
    };
    expect(loss(unpacked(one.gptq))).toBeLessThan(0.5 * loss(unpacked(one.least_error)));
  });
});

/** A moment of inputs of 1, 2, 3 … that vary by themselves, but for those that are always zero. */
function momentWithout(dead: readonly number[], size: number): Float64Array {
  const moment = new Float64Array(size * size);
  for (let at = 0; at < size; at += 1) moment[at * size + at] = dead.includes(at) ? 0 : (at + 1) ** 2;
  return moment;
}

test.each([4, 8] as const)('weights whose inputs no sample reached are rounded to %i bits', (bits) => {
  const dead = [0, 17, 33, 79];
  const curvature = curvatureOf(momentWithout(dead, k), k, largestFirst);
  if (curvature === undefined) throw new Error('the moment can be inverted');
  const { levels, scales, zeroPoints } = gptqLevels(matrix, curvature, {
    bits,
    symmetric: false,
    blockSize: 32,
  });
  for (let row = 0; row < n; row += 1)
    for (const at of dead) {
      const block = row * blockCount(k, 32) + Math.floor(at / 32);
      const [scale, zeroPoint] = [scales[block] ?? 0, zeroPoints[block] ?? 0];
      const value = matrix.values[row * k + at] ?? 0;
      const range = [(0 - zeroPoint) * scale, (2 ** bits - 1 - zeroPoint) * scale] as const;
      const nearest = Math.min(Math.max(value, range[0]), range[1]);
      const rounded = ((levels[row * k + at] ?? 0) - zeroPoint) * scale;
      expect(Math.abs(rounded - nearest)).toBeLessThanOrEqual(0.5001 * scale);
    }
});
