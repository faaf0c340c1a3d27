import { expect, test } from 'vitest';
import { requireNumbers } from '../../../../../shared/onnx/measure/session/require-numbers.ts';

const sample = (...values: number[]) => ({
  feeds: new Map([
    ['x', { type: 'float' as const, dims: [values.length], values: Float32Array.from(values) }],
  ]),
  labels: undefined,
});

test('ranges are not taken from NaN; infinity, as masks hold it, is let pass', () => {
  expect(() => requireNumbers(sample(1, Number.NaN), 4)).toThrow(
    'The calibration set contains NaN for the input "x" in sample 5',
  );
  expect(() => requireNumbers(sample(1, Number.NEGATIVE_INFINITY), 0)).not.toThrow();
});
