import { expect, test } from 'vitest';
import { summarizeValues } from '../../../../../shared/onnx/methods/calibrate/collectors/summarize-values.ts';
import { ValueHistogram } from '../../../../../shared/onnx/methods/calibrate/collectors/value-histogram.ts';

function filled(...batches: number[][]) {
  const histogram = new ValueHistogram(4);
  for (const batch of batches) {
    const values = Float32Array.from(batch);
    histogram.add(values, summarizeValues(values));
  }
  const seen: [number, number, number][] = [];
  histogram.forEach((magnitude, positive, negative) => {
    seen.push([magnitude, positive, negative]);
  });
  return { seen, total: histogram.total };
}

test('bins become wider on both sides when a larger value comes', () => {
  expect(filled([0.5, 1.5, -3.5])).toEqual({
    seen: [
      [0.5, 1, 0],
      [1.5, 1, 0],
      [3.5, 0, 1],
    ],
    total: 3,
  });
  expect(filled([0.5, 1.5, -3.5], [15])).toEqual({
    seen: [
      [2, 2, 1],
      [14, 1, 0],
    ],
    total: 4,
  });
});

test('zeros are counted apart, what is not finite not at all', () => {
  expect(filled([0, 1, -1, -2])).toEqual({
    seen: [
      [0, 1, 0],
      [1.5, 1, 1],
      [2.5, 0, 1],
    ],
    total: 4,
  });
  expect(filled([0, -0], [Number.NaN, Number.POSITIVE_INFINITY])).toEqual({ seen: [[0, 2, 0]], total: 2 });
});
