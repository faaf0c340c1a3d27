import { describe, expect, test } from 'vitest';
import { applyStrategy } from '../../../../../shared/onnx/methods/apply/apply-strategy.ts';
import { parseRequest } from '../../../../../shared/onnx/methods/apply/parse-request.ts';
import { noObservations } from '../../../../../shared/onnx/methods/calibrate/observations.ts';
import { TransformReport } from '../../../../../shared/onnx/methods/report/report.ts';
import { recurrent } from '../../../../support/onnx/quantizable-networks.ts';

const apply = (opset: number, strategy: string, precision: number) => () =>
  applyStrategy(
    { model: recurrent(opset), report: new TransformReport(), observed: noObservations },
    parseRequest({ operation: 'quantize', strategy, precision }),
  );

describe('an operator set without what the strategy writes', () => {
  test.each([
    ['dynamic', 10, 'dynamic needs opset 11 or higher; the model has 10.'],
    ['static_minmax', 9, 'static_minmax needs opset 10 or higher; the model has 9.'],
  ])('%s at %i', (strategy, opset, message) => {
    expect(apply(opset, strategy, 8)).toThrow(message);
  });

  test('is no obstacle to a strategy that writes other operators', () => {
    expect(apply(9, 'weight_only', 8)).not.toThrow();
  });
});
