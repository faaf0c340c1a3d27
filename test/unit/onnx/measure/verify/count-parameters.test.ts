import { describe, expect, test } from 'vitest';
import { countParameters } from '../../../../../shared/onnx/measure/verify/count-parameters.ts';
import { microsoft } from '../../../../../shared/onnx/model/file/model.ts';
import { makeNode } from '../../../../../shared/onnx/model/graph/graph.ts';
import { makeTensor, type Tensor } from '../../../../../shared/onnx/model/tensor/tensor.ts';
import { smallModel } from '../../../../support/onnx/small-model.ts';

const count = (nodes: Parameters<typeof smallModel>[0]['nodes'], constants: Tensor[]) =>
  countParameters(smallModel({ nodes, constants, inputs: { x: [1, 4] }, outputs: { y: [1, 2] } }).graph);

describe('parameters of a model', () => {
  test('are its floats; minus zero is zero, shapes are none', () => {
    const constants = [
      makeTensor('w', 'float', [2, 2], Float32Array.of(0, -0, 1, -2)),
      makeTensor('h', 'float16', [3], Float16Array.of(0, -0, 0.5)),
      makeTensor('d', 'double', [2], Float64Array.of(0, 1e-300)),
      makeTensor('shape', 'int64', [2], BigInt64Array.of(1n, 4n)),
    ];
    expect(count([], constants)).toEqual({ parameters: 9, nonzero: 4 });
  });

  test('are quantized numbers, against their zero point, but not scales and zero points', () => {
    const nodes = [makeNode('DequantizeLinear', ['q', 'scale', 'zero'], ['w'], { attributes: { axis: 0 } })];
    const constants = [
      makeTensor('q', 'uint8', [2, 3], Uint8Array.of(7, 7, 1, 9, 9, 9)),
      makeTensor('scale', 'float', [2], Float32Array.of(1, 1)),
      makeTensor('zero', 'uint8', [2], Uint8Array.of(7, 9)),
    ];
    expect(count(nodes, constants)).toEqual({ parameters: 6, nonzero: 1 });
  });

  test('are 4 bits each where two are packed into a byte; padding is none', () => {
    const attributes = { K: 3, N: 2, bits: 4, block_size: 16 };
    const nodes = [makeNode('MatMulNBits', ['x', 'b', 's'], ['y'], { domain: microsoft, attributes })];
    // Eight stands for zero: five of the six values are other than that.
    const packed = new Uint8Array(16).fill(0x88);
    packed.set([0x11, 0x81], 0);
    packed.set([0x21, 0x88], 8);
    const constants = [
      makeTensor('b', 'uint8', [2, 1, 8], packed),
      makeTensor('s', 'float', [2], Float32Array.of(1, 1)),
    ];
    expect(count(nodes, constants)).toEqual({ parameters: 6, nonzero: 5 });
  });
});
