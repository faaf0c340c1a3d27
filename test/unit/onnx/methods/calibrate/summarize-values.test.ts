import { expect, test } from 'vitest';
import { summarizeValues } from '../../../../../shared/onnx/methods/calibrate/collectors/summarize-values.ts';

const of = (...values: number[]) => summarizeValues(Float32Array.from(values));

test('one look tells range, smallest magnitude, and whether all are finite', () => {
  expect(of(-3, 2)).toEqual({ min: -3, max: 2, least: 2, isAllFinite: true });
  expect(of(Number.NaN, -1)).toMatchObject({ min: -1, max: -1, least: 1, isAllFinite: false });
  expect(of(Number.NEGATIVE_INFINITY, 1)).toMatchObject({
    min: Number.NEGATIVE_INFINITY,
    max: 1,
    least: 1,
    isAllFinite: false,
  });
});

test('zero has one sign only', () => {
  expect(of(-0, 0)).toEqual({ min: 0, max: 0, least: 0, isAllFinite: true });
  expect(of(-0)).toEqual({ min: 0, max: 0, least: 0, isAllFinite: true });
});

test('without a number there is no range', () => {
  const none = {
    min: Number.POSITIVE_INFINITY,
    max: Number.NEGATIVE_INFINITY,
    least: Number.POSITIVE_INFINITY,
  };
  expect(of()).toMatchObject({ ...none, isAllFinite: true });
  expect(of(Number.NaN)).toMatchObject({ ...none, isAllFinite: false });
});
