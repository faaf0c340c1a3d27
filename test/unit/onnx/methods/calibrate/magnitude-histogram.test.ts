import { expect, test } from 'vitest';
import { MagnitudeHistogram } from '../../../../../shared/onnx/methods/calibrate/collectors/magnitude-histogram.ts';
import { summarizeValues } from '../../../../../shared/onnx/methods/calibrate/collectors/summarize-values.ts';
import { seededRandom } from '../../../../support/seeded-random.ts';

function filled(...batches: number[][]): MagnitudeHistogram {
  const histogram = new MagnitudeHistogram();
  for (const batch of batches) {
    const values = Float32Array.from(batch);
    histogram.add(values, summarizeValues(values));
  }
  return histogram;
}

/** Where each of the values is reached, from the smallest. */
const places = (histogram: MagnitudeHistogram) =>
  Array.from({ length: histogram.total }, (_, at) => histogram.reached(at + 1));

const halfBin = 2 ** -13;

test('values of either sign are counted in bins that are 1/4096 of their power of two wide', () => {
  const one = 1 + halfBin;
  expect(places(filled([1, -1, 1.0001, 3]))).toEqual([one, one, one, 3 + 2 * halfBin]);
});

test('nothing is reached beyond what was counted, nor before anything was', () => {
  expect(filled([1, 2]).reached(2.5)).toBeUndefined();
  expect(filled([1, 2]).reached(0.5)).toBe(1 + halfBin);
  expect(filled().reached(0)).toBeUndefined();
});

test('zeros and what is twelve powers of two below the largest share the first bin', () => {
  const smallest = 2 ** -11 * (1 + halfBin);
  expect(places(filled([0, -0, 1, 2 ** -11, 2 ** -12]))).toEqual([0, 0, 0, smallest, 1 + halfBin]);
});

test('a larger value moves the window: what falls below it is counted on', () => {
  const one = 1 + halfBin;
  expect(places(filled([1, 1, 0.25], [2 ** 11]))).toEqual([0, one, one, 2 ** 11 * one]);
  expect(places(filled([1, 5], [2 ** 40]))).toEqual([0, 0, 2 ** 40 * one]);
});

test('tiny values have bins of their own, too', () => {
  const [magnitude] = places(filled([1e-42]));
  expect(magnitude).toBeGreaterThan(0);
  expect(magnitude).toBeLessThan(2 ** -126);
});

test('what is not finite is not counted', () => {
  expect(places(filled([Number.NaN, Number.POSITIVE_INFINITY, 1]))).toEqual([1 + halfBin]);
});

test('the order of the batches makes no difference', () => {
  const random = seededRandom(3);
  const batches = [1, 40, 0.01, 700].map((scale) =>
    Array.from({ length: 500 }, () => (random() - 0.5) * scale),
  );
  expect(places(filled(...batches.toReversed()))).toEqual(places(filled(...batches)));
});
