import { expect, test } from 'vitest';
import { smoothedByDefault } from '../../../../../shared/onnx/engine/optimize/keep-inputs-float.ts';
import { parseRequest } from '../../../../../shared/onnx/methods/apply/parse-request.ts';

const transformer = { operators: { MatMul: 36, Softmax: 6 } };
const dynamic = { operation: 'quantize', strategy: 'dynamic', precision: 8 };

test.each([
  ['a transformer with a calibration set is smoothed', dynamic, true, transformer, 0.7],
  [
    'so is one whose attention is fused',
    dynamic,
    true,
    { operators: { MatMul: 18, 'com.microsoft.Attention': 6 } },
    0.7,
  ],
  ['without a calibration set it is not', dynamic, false, transformer, null],
  ['a share that was asked for stays', { ...dynamic, smooth_alpha: 0.3 }, true, transformer, 0.3],
  ['one scale a tensor is quantized without', { ...dynamic, per_channel: false }, true, transformer, null],
  ['so are networks of Conv', dynamic, true, { operators: { MatMul: 1, Softmax: 1, Conv: 3 } }, null],
  [
    'and other strategies',
    { ...dynamic, strategy: 'static_minmax' },
    true,
    { operators: { MatMul: 1, Softmax: 1 } },
    null,
  ],
])('%s', (_, values, hasCalibration, model, smooth_alpha) => {
  const request = parseRequest(values);
  expect(smoothedByDefault(request, hasCalibration, model)).toEqual({ ...request, smooth_alpha });
});
