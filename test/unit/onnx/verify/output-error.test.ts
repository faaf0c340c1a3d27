import { describe, expect, test } from 'vitest';
import type { FedTensor } from '../../../../shared/onnx/session/session.ts';
import { labelReading, labelsMet } from '../../../../shared/onnx/verify/label-score.ts';
import { OutputDifference } from '../../../../shared/onnx/verify/output-error.ts';

const floats = (dims: number[], ...values: number[]): FedTensor => ({
  type: 'float',
  dims,
  values: Float32Array.from(values),
});

function difference(...pairs: [FedTensor, FedTensor][]) {
  const one = new OutputDifference('y');
  for (const [before, after] of pairs) one.add(before, after);
  return one.result();
}

describe('the error of an output', () => {
  test('is relative to all samples together', () => {
    const result = difference([floats([2], 3, 0), floats([2], 3, 1)], [floats([2], 0, 4), floats([2], 0, 4)]);
    expect(result).toEqual({
      name: 'y',
      relative_l2_error: 0.2,
      largest_difference: 1,
      values: 4,
      why: null,
    });
  });

  test('cannot be told where values became infinite, shapes changed, or nothing was there', () => {
    expect(difference([floats([2], 1, 2), floats([2], 1, Number.NaN)]).why).toBe(
      '1 of its values are infinite or not numbers any more',
    );
    expect(difference([floats([2], 1, 2), floats([1, 2], 1, 2)]).why).toBe('became [1, 2] where it was [2]');
    expect(difference([floats([1], 0), floats([1], 1)]).why).toBe('was zero throughout');
    expect(difference([floats([1], 0), floats([1], 0)]).relative_l2_error).toBe(0);
  });

  test('leaves out what was infinite before', () => {
    const inf = Number.NEGATIVE_INFINITY;
    expect(difference([floats([2], inf, 2), floats([2], inf, 2)]).relative_l2_error).toBe(0);
  });
});

describe('labels', () => {
  const labels = (dims: number[], ...numbers: number[]) => ({ dims, numbers });

  test('are met by the largest score along the last axis', () => {
    const outputs = new Map([['scores', floats([2, 3], 0, 2, 1, 5, 4, 3)]]);
    const wanted = labels([2], 1, 2);
    const reading = labelReading(outputs, wanted)!;
    expect(reading).toEqual({ output: 'scores', axis: 1 });
    expect(labelsMet(outputs, wanted, reading)).toEqual({ met: 1, of: 2 });
  });

  test('are met by the second axis of a segmentation', () => {
    const outputs = new Map([['map', floats([1, 2, 2, 2], 9, 0, 0, 9, 1, 1, 1, 1)]]);
    const wanted = labels([1, 2, 2], 0, 1, 1, 0);
    const reading = labelReading(outputs, wanted)!;
    expect(reading.axis).toBe(1);
    expect(labelsMet(outputs, wanted, reading)).toEqual({ met: 4, of: 4 });
  });

  test('are met by an output that names the class, before one of scores; negative ones do not count', () => {
    const outputs = new Map<string, FedTensor>([
      ['scores', floats([2, 2], 1, 0, 0, 1)],
      ['class', { type: 'int64', dims: [2], values: BigInt64Array.of(1n, 1n) }],
    ]);
    const wanted = labels([2], 1, -100);
    const reading = labelReading(outputs, wanted)!;
    expect(reading).toEqual({ output: 'class', axis: null });
    expect(labelsMet(outputs, wanted, reading)).toEqual({ met: 1, of: 1 });
  });

  test('that no output fits are seen', () => {
    expect(labelReading(new Map([['y', floats([1, 4], 1, 2, 3, 4)]]), labels([7], 0))).toBeUndefined();
  });
});
