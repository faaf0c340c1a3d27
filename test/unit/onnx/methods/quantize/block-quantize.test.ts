import { expect, test } from 'vitest';
import { quantizeBlocks } from '../../../../../shared/onnx/methods/quantize/blocks/block-quantize.ts';

const matrix = (values: readonly number[], k: number, n: number) => ({
  values: Float32Array.from(values),
  k,
  n,
  strideK: n,
  strideN: 1,
});

test('symmetric: the value of the largest magnitude becomes the least level', () => {
  const { packed, scales, zeroPoints } = quantizeBlocks(matrix([-4, 2, 0.5, 0], 4, 1), 4, true);
  expect([...scales]).toEqual([0.5]);
  expect(zeroPoints).toBeUndefined();
  // Levels 0, 12, 9, 8, low nibble first; what lies beyond K is 0.
  expect([...packed]).toEqual([0xc0, 0x89, ...new Array(14).fill(0)]);
});

test('asymmetric: the whole range, zero included', () => {
  const { packed, scales, zeroPoints } = quantizeBlocks(matrix([-1, 14, 0.5, -0.5], 4, 1), 4, false);
  expect([...scales]).toEqual([1]);
  expect([...(zeroPoints ?? [])]).toEqual([0x81]);
  // 0.5 and −0.5 go away from zero once the zero point was added: levels 2 and 1.
  expect([...packed.subarray(0, 2)]).toEqual([0xf0, 0x12]);
});

test('a block of zeros stays zero', () => {
  const { packed, scales } = quantizeBlocks(matrix(new Array(32).fill(0), 32, 1), 8, true);
  expect([...scales]).toEqual([0]);
  expect([...packed]).toEqual(new Array(32).fill(128));
});

test('a transposed matrix gives the same blocks', () => {
  const [k, n] = [70, 5];
  const values = Float32Array.from({ length: k * n }, (_, at) => Math.sin(at * 1.7));
  const turned = Float32Array.from(
    { length: k * n },
    (_, at) => values[(at % k) * n + Math.floor(at / k)] ?? 0,
  );
  const direct = quantizeBlocks({ values, k, n, strideK: n, strideN: 1 }, 4, false);
  const transposed = quantizeBlocks({ values: turned, k, n, strideK: 1, strideN: k }, 4, false);
  expect(transposed).toEqual(direct);
});
