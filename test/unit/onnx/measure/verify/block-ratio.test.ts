import { expect, test } from 'vitest';
import { median, medianInterval, quantile } from '../../../../../shared/onnx/measure/verify/block-ratio.ts';

test('quantiles lie between values in proportion', () => {
  expect(median([3, 1, 2])).toBe(2);
  expect(median([1, 2, 3, 4])).toBe(2.5);
  expect(quantile([0, 10], 0.9)).toBe(9);
});

test('the interval of the median holds it and is the same for the same seed', () => {
  const values = Array.from({ length: 30 }, (_, index) => 1 + ((index * 7) % 30) / 100);
  const [low, high] = medianInterval(values, 5);
  expect(low).toBeLessThan(median(values));
  expect(high).toBeGreaterThan(median(values));
  expect(medianInterval(values, 5)).toEqual([low, high]);
  expect(medianInterval([2, 2, 2], 1)).toEqual([2, 2]);
});
