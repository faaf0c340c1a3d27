import { expect, test } from 'vitest';
import { setsBeside } from '../../../shared/onnx-models/sets-beside.ts';

test.each([
  [
    'digits.onnx',
    ['digits.onnx', 'digits-calibration.npz', 'digits-test.npz'],
    'digits-calibration.npz',
    'digits-test.npz',
  ],
  [
    'out/model.onnx',
    ['out/calib_data.npz', 'out/eval.npz', 'eval.npz'],
    'out/calib_data.npz',
    'out/eval.npz',
  ],
  ['a.onnx', ['test.npz', 'a-test.npz', 'b-test.npz'], undefined, 'a-test.npz'],
  ['model.onnx', ['validation.NPZ'], undefined, 'validation.NPZ'],
])('beside %s lie its sets: %j', (model, paths, calibration, evaluation) => {
  expect(setsBeside(model, paths)).toEqual({
    ...(calibration !== undefined && { calibration }),
    ...(evaluation !== undefined && { evaluation }),
  });
});

test.each([
  ['of another model', 'digits.onnx', ['letters-test.npz']],
  ['in another folder', 'out/digits.onnx', ['digits-test.npz', 'sets/test.npz']],
  ['of another kind', 'digits.onnx', ['digits-test.csv', 'digits.npz', 'test']],
  ['of which nothing tells one', 'digits.onnx', ['test.npz', 'val.npz']],
  ['that says both', 'digits.onnx', ['calibration-test.npz']],
])('a set %s is not taken', (_, model, paths) => {
  expect(setsBeside(model, paths)).toEqual({});
});
