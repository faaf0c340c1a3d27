import { expect, test } from 'vitest';
import { finiteness } from '../../../../../shared/onnx/model/kernels/finiteness.ts';
import { sourceOf } from '../../../../../shared/onnx/model/tensor/external-data.ts';
import { makeTensor } from '../../../../../shared/onnx/model/tensor/tensor.ts';

const { NaN: none, NEGATIVE_INFINITY: infinite } = Number;

test.each([none, infinite, 3.4e38, 0])('%d at the end of a tensor of any alignment and type', (value) => {
  const isExpected = Number.isFinite(value);
  const values = new Float32Array(300_000).fill(-1).fill(value, 299_999);
  const tensor = makeTensor('w', 'float', [300_000], values);
  const shifted = new Uint8Array(values.byteLength + 1);
  shifted.set(new Uint8Array(values.buffer), 1);
  expect(finiteness()(tensor)).toBe(isExpected);
  expect(finiteness()({ ...tensor, source: () => sourceOf(shifted.subarray(1)) })).toBe(isExpected);
  expect(finiteness()(makeTensor('d', 'double', [2], Float64Array.of(1, value)))).toBe(isExpected);
});

test('each tensor is looked at once', () => {
  let reads = 0;
  const tensor = makeTensor('w', 'float', [1], Float32Array.of(none));
  const source = () => {
    reads += 1;
    return tensor.source();
  };
  const isSound = finiteness();
  const counted = { ...tensor, source };
  expect([isSound(counted), isSound(counted), reads]).toEqual([false, false, 1]);
});
