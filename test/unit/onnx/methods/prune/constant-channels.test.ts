import { describe, expect, test } from 'vitest';
import { pruneStructured } from '../../../../../shared/onnx/methods/prune/structured/prune-structured.ts';
import { TransformReport } from '../../../../../shared/onnx/methods/report/report.ts';
import { makeNode } from '../../../../../shared/onnx/model/graph/graph.ts';
import { makeTensor, type Tensor } from '../../../../../shared/onnx/model/tensor/tensor.ts';
import { floatsOf } from '../../../../../shared/onnx/model/tensor/values.ts';
import { seededFloats } from '../../../../support/onnx/seeded.ts';
import { relativeError, runSmall, smallModel } from '../../../../support/onnx/small-model.ts';
import { seededRandom } from '../../../../support/seeded-random.ts';

const random = seededRandom(11);
const count = (dims: readonly number[]): number => dims.reduce((a, b) => a * b, 1);
const weight = (name: string, dims: readonly number[], scale = 1): Tensor =>
  makeTensor(name, 'float', dims, seededFloats(random, count(dims), scale));

/** A weight of which every second output has no values, and the others are large. */
function halfDead(name: string, dims: readonly number[], axis: number): Tensor {
  const full = weight(name, dims);
  const behind = dims.slice(axis + 1).reduce((a, b) => a * b, 1);
  const values = floatsOf(full).map((value, at) =>
    (Math.floor(at / behind) % dims[axis]!) % 2 === 0 ? value * 3 : 0,
  );
  return makeTensor(name, 'float', dims, values);
}

describe('channels without weights', () => {
  const shift = () => makeTensor('shift', 'float', [16], seededFloats(random, 16));
  test.each([
    ['Sigmoid', ['Sigmoid'], 'Conv'],
    ['Softplus behind a bias', ['Bias', 'Softplus'], 'Conv'],
    ['BatchNormalization', ['BatchNormalization', 'Tanh'], 'Conv'],
    ['a grouped convolution', ['Sigmoid'], 'grouped Conv'],
    ['a pool and MatMul', ['Sigmoid', 'Pool'], 'MatMul'],
    ['a pool and Gemm', ['Sigmoid', 'Pool'], 'Gemm'],
  ] as const)('go without changing the result: %s', async (_, steps, last) => {
    const constants = [halfDead('a', [16, 3, 1, 1], 0), shift()];
    const nodes = [
      makeNode(
        'Conv',
        ['x', 'a', ...((steps as readonly string[]).includes('Bias') ? ['shift'] : [])],
        ['v0'],
        { name: 'first' },
      ),
    ];
    let now = 'v0';
    for (const [at, step] of steps.entries()) {
      const next = `v${at + 1}`;
      if (step === 'BatchNormalization') {
        const norm = ['scale', 'offset', 'mean'].map((name) => weight(name, [16]));
        constants.push(...norm, makeTensor('variance', 'float', [16], new Float32Array(16).fill(0.7)));
        nodes.push(makeNode(step, [now, 'scale', 'offset', 'mean', 'variance'], [next]));
      } else if (step === 'Pool') {
        nodes.push(makeNode('GlobalAveragePool', [now], ['pooled']), makeNode('Flatten', ['pooled'], [next]));
      } else if (step !== 'Bias') nodes.push(makeNode(step, [now], [next]));
      else continue;
      now = next;
    }
    const lasts = {
      Conv: { dims: [5, 16, 1, 1], attributes: {}, shape: [1, 5, 4, 4] },
      'grouped Conv': { dims: [8, 4, 1, 1], attributes: { group: 4 }, shape: [1, 8, 4, 4] },
      MatMul: { dims: [16, 5], attributes: {}, shape: [1, 5] },
      Gemm: { dims: [16, 5], attributes: { alpha: { float: 0.5 } }, shape: [1, 5] },
    };
    const { dims, attributes, shape } = lasts[last];
    constants.push(weight('b', dims, 0.2));
    nodes.push(makeNode(last.replace('grouped ', ''), [now, 'b'], ['y'], { name: 'last', attributes }));
    const model = smallModel({ inputs: { x: [1, 3, 4, 4] }, outputs: { y: shape }, constants, nodes });
    const feeds = { x: { dims: [1, 3, 4, 4], data: seededFloats(random, 48) } };
    const before = await runSmall(model, feeds);
    pruneStructured(
      model,
      { strategy: 'structured_l2', compression: 2, exclude: [], seed: 0 },
      new TransformReport(),
    );
    const after = await runSmall(model, feeds);
    expect(relativeError(after['y']!.data, before['y']!.data)).toBeLessThan(1e-5);
    expect(model.graph.initializer('a')?.dims).toEqual([8, 3, 1, 1]);
  });
});
