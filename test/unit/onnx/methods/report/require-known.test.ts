import { describe, expect, test } from 'vitest';
import { requireKnown } from '../../../../../shared/onnx/methods/report/require-known.ts';
import { makeNode } from '../../../../../shared/onnx/model/graph/graph.ts';
import { makeTensor } from '../../../../../shared/onnx/model/tensor/tensor.ts';
import { copyOf, smallModel } from '../../../../support/onnx/small-model.ts';
import { smallNetwork } from '../../../../support/onnx/small-network.ts';

const network = smallNetwork();
const faultOf = (exclude: readonly string[], model = network): string => {
  try {
    requireKnown(model.graph, exclude);
    return '';
  } catch (error) {
    return String(error);
  }
};

describe('what a request excludes must be there', () => {
  test('by the name of a node, or the type of an operator', () => {
    expect(faultOf([])).toBe('');
    expect(faultOf(['first', 'head', 'Conv', 'GlobalAveragePool'])).toBe('');
  });

  test('all that is not there is told at once, with what may have been meant', () => {
    expect(faultOf(['frist', 'Conv', 'head ', 'globalaveragepool', 'transformer'])).toBe(
      'ModelError: exclude has unknown names: "frist" (did you mean "first"?), "head " (did you mean "head"?), "globalaveragepool" (did you mean "GlobalAveragePool"?), "transformer". Allowed are names of nodes (the first output of a node without a name) and operator types of the model: Conv, Flatten, Gemm, GlobalAveragePool, Relu.',
    );
  });

  test('an operator that there is, but not in this model, is only told', () => {
    expect(requireKnown(network.graph, ['LSTM', 'Conv', 'Softmax', 'first'])).toEqual(['LSTM', 'Softmax']);
    expect(faultOf(['LSTM', 'Softmaks'])).toMatch(/^ModelError: [^"]*"Softmaks"\. /);
  });

  test('a message has an end, whatever is asked', () => {
    const hostile = Array.from({ length: 1000 }, (_, at) => `${at}${'\u0000<'.repeat(250)}`);
    const said = faultOf(hostile);
    expect(said).toContain('and 990 more');
    expect(said.length).toBeLessThan(6000);
  });

  test('a node without a name is called by its first output', () => {
    const made = smallModel({
      nodes: [
        makeNode('Constant', [], ['c'], { name: 'made', attributes: { value_float: 2 } }),
        makeNode('Identity', ['c'], ['same'], { name: 'alias' }),
        makeNode('Mul', ['x', 'same'], ['twice']),
        makeNode('Gelu', ['twice'], ['y'], { name: 'act', domain: 'com.microsoft' }),
      ],
      constants: [makeTensor('unused', 'float', [1], new Float32Array(1))],
      inputs: { x: [2] },
      outputs: { y: [2] },
      domains: { 'com.microsoft': 1 },
    });
    const read = copyOf(made);
    expect(read.graph.nodes.map(({ opType }) => opType)).toEqual(['Mul', 'Gelu']);
    // Constants are no nodes any more once a model is read; the file has them.
    const all = [
      'twice',
      'act',
      'Mul',
      'Gelu',
      'com.microsoft.Gelu',
      'made',
      'alias',
      'Constant',
      'Identity',
    ];
    expect(faultOf(all, read)).toBe('');
    expect(faultOf(['x', 'unused'], read)).toContain('"x", "unused"');
  });
});
