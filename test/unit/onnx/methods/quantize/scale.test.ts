import { expect, test } from 'vitest';
import { roundHalfEven, scaleOf } from '../../../../../shared/onnx/methods/quantize/quantized-values.ts';

// Scale and zero point as compute_scale_zp of onnxruntime.quantization 1.30 gives them.
test.each([
  [-1, 2, 'int8', false, false, 0.0117647061124444, -43],
  [-1, 2, 'int8', false, true, 0.0234375, -21],
  [-1, 2, 'int8', true, false, 0.015748031437397003, 0],
  [-1, 2, 'int8', true, true, 0.03125, 0],
  [-1, 2, 'uint8', false, false, 0.0117647061124444, 85],
  [-1, 2, 'uint8', false, true, 0.023622047156095505, 42],
  [0.5, 3, 'int8', false, false, 0.0117647061124444, -128],
  [-3, -1, 'int8', false, false, 0.0117647061124444, 127],
  [-3, -1, 'uint8', false, true, 0.023622047156095505, 127],
  [-0.1, 0.1, 'int8', true, false, 0.0007874015718698502, 0],
  [-0.1, 0.1, 'uint8', false, false, 0.0007843137136660516, 128],
  [0, 0, 'int8', false, false, 1, 0],
  [-1e-40, 1e-40, 'uint8', false, false, 1, 0],
  [-127.3, 4.2, 'int8', false, true, 1.02734375, 60],
  [-127.3, 4.2, 'uint8', false, false, 0.5156862735748291, 247],
] as const)(
  '%d to %d as %s (symmetric %s, reduced %s)',
  (min, max, type, symmetric, reduced, scale, zero) => {
    const mapped = scaleOf(Math.fround(min), Math.fround(max), { type, symmetric, reduced });
    expect([mapped.scale, mapped.zeroPoint + 0]).toEqual([scale, zero]);
  },
);

test('halves are rounded to even numbers', () => {
  expect([0.5, 1.5, 2.5, -0.5, -1.5, 126.5, 2.4999].map((value) => roundHalfEven(value) + 0)).toEqual([
    0, 2, 2, 0, -2, 126, 2,
  ]);
});
