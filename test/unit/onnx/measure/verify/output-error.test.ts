import { describe, expect, test } from 'vitest';
import type { FedTensor } from '../../../../../shared/onnx/measure/session/session.ts';
import {
  labelReading,
  labelsMet,
  labelsWarning,
} from '../../../../../shared/onnx/measure/verify/label-score.ts';
import { OutputDifference } from '../../../../../shared/onnx/measure/verify/output-error.ts';

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
      '1 of its finite values became NaN or infinite',
    );
    expect(difference([floats([2], 1, 2), floats([1, 2], 1, 2)]).why).toBe(
      'changed its shape from [2] to [1, 2]',
    );
    expect(difference([floats([1], 0), floats([1], 1)]).why).toBe('was zero throughout');
    expect(difference([floats([1], 0), floats([1], 0)]).relative_l2_error).toBe(0);
  });

  test.each([
    ['NaN throughout', floats([2], Number.NaN, Number.NaN), 'has only NaN or infinite values in the model'],
    ['empty', floats([0, 2]), 'has no values to compare'],
  ])('is not known where the output is %s', (_, output, why) => {
    const { relative_l2_error, largest_difference, why: said } = difference([output, output]);
    expect([relative_l2_error, largest_difference]).toEqual([null, null]);
    expect(said).toContain(why);
  });

  test('is that of the finite values, and the others are told, with those that did not stay', () => {
    const one = new OutputDifference('y');
    const { NaN: none, POSITIVE_INFINITY: infinite } = Number;
    one.add(floats([5], none, infinite, none, infinite, 2), floats([5], none, infinite, 0, none, 3));
    expect(one.result()).toMatchObject({ relative_l2_error: 0.5, why: null });
    expect(one.warning()).toBe(
      'The output "y" has 4 of 5 values that are NaN or infinite in the model itself; its error covers only the other values; 2 of these differ in the result.',
    );
    const other = new OutputDifference('y');
    other.add(floats([1], none), floats([1], 0));
    expect(other.result().relative_l2_error).toBeNull();
    expect(other.warning()).toContain('1 of these differ in the result');
    const clean = new OutputDifference('y');
    clean.add(floats([2], 1, 2), floats([2], 1, 2));
    expect(clean.warning()).toBeUndefined();
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
    const score = labelsMet(outputs, wanted, reading);
    expect(score).toMatchObject({ met: 1, of: 2, beyond: 0 });
    expect(labelsWarning(score, reading)).toBeUndefined();
  });

  test('are met by the second axis of a segmentation', () => {
    const outputs = new Map([['map', floats([1, 2, 2, 2], 9, 0, 0, 9, 1, 1, 1, 1)]]);
    const wanted = labels([1, 2, 2], 0, 1, 1, 0);
    const reading = labelReading(outputs, wanted)!;
    expect(reading.axis).toBe(1);
    expect(labelsMet(outputs, wanted, reading)).toMatchObject({ met: 4, of: 4 });
  });

  test('are met by an output that names the class, before one of scores; negative ones do not count', () => {
    const outputs = new Map<string, FedTensor>([
      ['scores', floats([2, 2], 1, 0, 0, 1)],
      ['class', { type: 'int64', dims: [2], values: BigInt64Array.of(1n, 1n) }],
    ]);
    const wanted = labels([2], 1, -100);
    const reading = labelReading(outputs, wanted)!;
    expect(reading).toEqual({ output: 'class', axis: null });
    expect(labelsMet(outputs, wanted, reading)).toMatchObject({ met: 1, of: 1 });
  });

  test('that are none of the classes are told, the largest by name', () => {
    const outputs = new Map([['scores', floats([2, 3], 0, 2, 1, 5, 4, 3)]]);
    const reading = { output: 'scores', axis: 1 };
    const score = labelsMet(outputs, labels([2], 1, 7), reading);
    expect(score).toMatchObject({ met: 1, of: 2 });
    expect(labelsWarning(score, reading)).toBe(
      '1 of 2 labels, up to 7, are outside the 3 classes (0 to 2) of the output "scores"; they count as incorrect. Use negative labels for samples to ignore.',
    );
  });

  test('that no output fits are seen', () => {
    expect(labelReading(new Map([['y', floats([1, 4], 1, 2, 3, 4)]]), labels([7], 0))).toBeUndefined();
  });
});
