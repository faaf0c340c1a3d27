import { expect, test } from 'vitest';
import { Names } from '../../../../../shared/onnx/model/graph/graph.ts';
import { makeTensor } from '../../../../../shared/onnx/model/tensor/tensor.ts';
import { smallModel } from '../../../../support/onnx/small-model.ts';

test('names leave those free to which an earlier quantization added endings', () => {
  const constants = ['w_blocks_scales', 'q1_Q4'].map((name) =>
    makeTensor(name, 'float', [1], new Float32Array(1)),
  );
  const names = new Names(
    smallModel({ nodes: [], constants, inputs: { x: [1] }, outputs: { x: [1] } }).graph,
  );

  expect(names.make('w_blocks')).toBe('w_blocks_2');
  expect(names.make('a/path/of/modules'.repeat(9))).toBe('q2');
});
