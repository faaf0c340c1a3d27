import { expect, test } from 'vitest';
import { MagnitudeHistogram } from '../../../../shared/onnx/calibrate/magnitude-histogram.ts';

function filled(sign: -1 | 0 | 1, ...batches: number[][]) {
  const histogram = new MagnitudeHistogram(4);
  for (const batch of batches) histogram.add(Float32Array.from(batch), sign);
  const seen: [number, number][] = [];
  histogram.forEach((magnitude, count) => {
    seen.push([magnitude, count]);
  });
  return { seen, total: histogram.total };
}

test('bins become wider when a larger magnitude comes', () => {
  expect(filled(0, [0.5, 1.5, -3.5])).toEqual({
    seen: [
      [0.5, 1],
      [1.5, 1],
      [3.5, 1],
    ],
    total: 3,
  });
  expect(filled(0, [0.5, 1.5, -3.5], [15])).toEqual({
    seen: [
      [2, 3],
      [14, 1],
    ],
    total: 4,
  });
});

test('a sign leaves out the others, zeros are counted apart', () => {
  expect(filled(-1, [0, 1, -1, -2])).toEqual({
    seen: [
      [0, 1],
      [1.5, 1],
      [2.5, 1],
    ],
    total: 3,
  });
  expect(filled(1, [0, 0], [Number.NaN, Number.POSITIVE_INFINITY])).toEqual({ seen: [[0, 2]], total: 2 });
});
