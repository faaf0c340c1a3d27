import { describe, expect, test } from 'vitest';
import { sourceOf } from '../../../../../shared/onnx/model/tensor/external-data.ts';
import { lazyTensor, makeTensor, sourceTensor } from '../../../../../shared/onnx/model/tensor/tensor.ts';
import { withFloats } from '../../../../../shared/onnx/model/tensor/values.ts';

/** A float32 tensor whose bytes lie at an odd address, as they do in a model file. */
function crooked(...values: number[]) {
  const bytes = new Uint8Array(4 * values.length + 1).subarray(1);
  bytes.set(new Uint8Array(Float32Array.from(values).buffer));
  return lazyTensor('crooked', 'float', [values.length], () => bytes);
}

describe('values are lent', () => {
  test('wherever they lie', () => {
    expect(withFloats(crooked(1, 2, 3), (values) => [...values])).toEqual([1, 2, 3]);
    expect(withFloats(crooked(4), (values) => [...values])).toEqual([4]);
    const { byteLength, read } = sourceOf(Float32Array.of(8, 9));
    const outside = sourceTensor('outside', 'float', [2], { byteLength, read });
    expect(withFloats(outside, (values) => [...values])).toEqual([8, 9]);
    expect([...new Float32Array(outside.bytes().buffer)]).toEqual([8, 9]);
    const straight = makeTensor('straight', 'float', [2], Float32Array.of(5, 6));
    expect(withFloats(straight, (values) => [...values])).toEqual([5, 6]);
    const half = makeTensor('half', 'float16', [1], Float16Array.of(0.5));
    expect(withFloats(half, (values) => [...values])).toEqual([0.5]);
  });

  test('one tensor while another is lent, each in room of its own', () => {
    const both = withFloats(crooked(1, 2), (outer) =>
      withFloats(crooked(3, 4), (inner) => [...outer, ...inner]),
    );
    expect(both).toEqual([1, 2, 3, 4]);
  });

  test('again after a borrower failed', () => {
    const fail = () =>
      withFloats(crooked(1), () => {
        throw new Error('broken');
      });
    expect(fail).toThrow('broken');
    expect(withFloats(crooked(7), (values) => values[0])).toBe(7);
  });
});
