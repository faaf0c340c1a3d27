import { expect, test } from 'vitest';
import { runtimeNeeded } from '../../../../../shared/onnx/measure/verify/runtime-needed.ts';
import { microsoft } from '../../../../../shared/onnx/model/file/model.ts';
import { makeNode } from '../../../../../shared/onnx/model/graph/graph.ts';
import { smallModel } from '../../../../support/onnx/small-model.ts';

const needed = (opset: number, operator?: string, bits = 4) =>
  runtimeNeeded(
    smallModel({
      nodes:
        operator === undefined
          ? []
          : [makeNode(operator, ['x'], ['y'], { domain: microsoft, attributes: { bits } })],
      constants: [],
      inputs: {},
      outputs: {},
      opset,
    }),
  );

test('the version needed follows the opset and the operators', () => {
  expect(needed(9)).toBe('1.0');
  expect(needed(13)).toBe('1.6');
  expect(needed(21)).toBe('1.18');
  expect(needed(22)).toBeNull();
  expect(needed(13, 'MatMulNBits')).toBe('1.17');
  expect(needed(13, 'MatMulNBits', 8)).toBe('1.22');
  expect(needed(21, 'GatherBlockQuantized')).toBe('1.23');
});
