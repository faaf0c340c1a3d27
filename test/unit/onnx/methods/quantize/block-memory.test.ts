import { expect, test, vi } from 'vitest';
import { BlockMemory } from '../../../../../shared/onnx/methods/quantize/blocks/block-memory.ts';
import type { Blocks } from '../../../../../shared/onnx/methods/quantize/blocks/block-quantize.ts';
import { makeNode } from '../../../../../shared/onnx/model/graph/graph.ts';
import { makeTensor } from '../../../../../shared/onnx/model/tensor/tensor.ts';

const format = { bits: 4, symmetric: true, blockSize: 32 } as const;
const matrix = (...values: number[]) => ({
  ...{ values: Float32Array.from(values), k: values.length, n: 1, strideK: 1, strideN: 1 },
});
const observed = (...mean: number[]) => ({
  ...{ channels: mean.length, rows: 4, mean: Float64Array.from(mean), largest: Float64Array.from(mean) },
  moment: () => undefined,
});
const blocks = (bytes = 1): Blocks => ({
  ...{ packed: new Uint8Array(bytes), scales: new Float32Array(), zeroPoints: undefined },
  ...{ squaredError: 0, squaredNorm: 1 },
});

test('blocks of the same weight, method, format and inputs are computed once', () => {
  const memory = new BlockMemory();
  const compute = vi.fn(() => blocks());
  const first = memory.blocks('gptq', matrix(1, 2), format, observed(1, 2), compute);
  expect(memory.blocks('gptq', matrix(1, 2), format, observed(1, 2), compute)).toBe(first);
  expect(compute).toHaveBeenCalledTimes(1);
});

test('another weight, method, format or input has blocks of its own', () => {
  const memory = new BlockMemory();
  const compute = vi.fn(() => blocks());
  const [weight, inputs] = [matrix(1, 2), observed(1, 2)];
  memory.blocks('gptq', weight, format, inputs, compute);
  memory.blocks('awq', weight, format, inputs, compute);
  memory.blocks('gptq', matrix(1, 2.5), format, inputs, compute);
  memory.blocks('gptq', { ...weight, strideN: 2 }, format, inputs, compute);
  memory.blocks('gptq', weight, { ...format, blockSize: 128 }, inputs, compute);
  memory.blocks('gptq', weight, format, observed(1, 3), compute);
  memory.blocks('gptq', weight, format, undefined, compute);
  expect(compute).toHaveBeenCalledTimes(7);
});

test('what a method cannot quantize is asked for again', () => {
  const memory = new BlockMemory();
  const compute = vi.fn(() => undefined);
  expect(memory.blocks('gptq', matrix(1), format, observed(1), compute)).toBeUndefined();
  memory.blocks('gptq', matrix(1), format, observed(1), compute);
  expect(compute).toHaveBeenCalledTimes(2);
});

test('the oldest blocks leave the memory where all of them would be too large', () => {
  const memory = new BlockMemory();
  const compute = vi.fn(() => blocks(2 ** 26));
  for (const value of [1, 2, 3]) memory.blocks('gptq', matrix(value), format, undefined, compute);
  memory.blocks('gptq', matrix(3), format, undefined, compute);
  expect(compute).toHaveBeenCalledTimes(3);
  memory.blocks('gptq', matrix(1), format, undefined, compute);
  expect(compute).toHaveBeenCalledTimes(4);
});

test('factors of an input depend on all its products', () => {
  const memory = new BlockMemory();
  const compute = vi.fn(() => undefined);
  const product = (...values: number[]) => ({
    node: makeNode('MatMul', ['x', 'w'], ['y']),
    tensor: makeTensor('w', 'float', [values.length, 1], Float32Array.from(values)),
    inputAxis: 0 as const,
  });
  const [first, second] = [product(1, 2), product(3, 4)];
  memory.factors([first], observed(1, 2), format, compute);
  memory.factors([product(1, 2)], observed(1, 2), format, compute);
  expect(compute).toHaveBeenCalledTimes(1);
  memory.factors([first, second], observed(1, 2), format, compute);
  expect(compute).toHaveBeenCalledTimes(2);
});
