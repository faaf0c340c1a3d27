import { describe, expect, test } from 'vitest';
import { pruneStructured } from '../../../../../shared/onnx/methods/prune/structured/prune-structured.ts';
import { TransformReport } from '../../../../../shared/onnx/methods/report/report.ts';
import type { Model } from '../../../../../shared/onnx/model/file/model.ts';
import { makeNode } from '../../../../../shared/onnx/model/graph/graph.ts';
import { valueInfoOf } from '../../../../../shared/onnx/model/graph/value-info.ts';
import { makeTensor, type Tensor } from '../../../../../shared/onnx/model/tensor/tensor.ts';
import { floatsOf } from '../../../../../shared/onnx/model/tensor/values.ts';
import { seededFloats } from '../../../../support/onnx/seeded.ts';
import { copyOf, runSmall, smallModel } from '../../../../support/onnx/small-model.ts';
import { seededRandom } from '../../../../support/seeded-random.ts';

const random = seededRandom(11);
const weight = (name: string, dims: readonly number[], scale = 1): Tensor =>
  makeTensor(
    name,
    'float',
    dims,
    seededFloats(
      random,
      dims.reduce((a, b) => a * b, 1),
      scale,
    ),
  );

function prune(
  model: Model,
  {
    strategy = 'structured_l2' as 'structured_l1' | 'structured_l2' | 'random',
    compression = 2,
    exclude = [] as string[],
    seed = 0,
  } = {},
): TransformReport {
  const report = new TransformReport();
  pruneStructured(model, { strategy, compression, exclude, seed }, report);
  return report;
}

const dimsOf = (model: Model, name: string) => model.graph.initializer(name)?.dims;

/** Two layers with something between them. */
function between(nodes: ReturnType<typeof makeNode>[], constants: Tensor[] = [], hidden = 32): Model {
  return smallModel({
    opset: 21,
    inputs: { x: [1, 3, 8, 8] },
    outputs: { y: [1, 5, 8, 8] },
    constants: [weight('a', [hidden, 3, 1, 1]), weight('b', [5, hidden, 1, 1]), ...constants],
    nodes: [
      makeNode('Conv', ['x', 'a'], ['h'], { name: 'first' }),
      ...nodes,
      makeNode('Conv', ['m', 'b'], ['y'], { name: 'last' }),
    ],
  });
}

describe('what has to stay', () => {
  test.each([
    ['LRN', [makeNode('LRN', ['h'], ['m'], { name: 'norm', attributes: { size: 3 } })]],
    ['Softmax', [makeNode('Softmax', ['h'], ['m'], { name: 'norm', attributes: { axis: 1 } })]],
    ['ReduceMean', [makeNode('ReduceMean', ['h', 'axes'], ['mean']), makeNode('Sub', ['h', 'mean'], ['m'])]],
  ])('%s locks the channels that it mixes', (operator, nodes) => {
    const axes = makeTensor('axes', 'int64', [1], BigInt64Array.of(1n));
    expect(() => prune(between(nodes, [axes]))).toThrow(
      new RegExp(`no channels that can be removed.*first: ${operator}`),
    );
  });

  test('LayerNorm locks the residual stream, but not the neurons between', () => {
    const model = smallModel({
      inputs: { x: ['batch', 16] },
      outputs: { y: ['batch', 16] },
      constants: [
        weight('w1', [16, 64]),
        weight('b1', [64]),
        weight('w2', [64, 16]),
        weight('s', [16]),
        weight('t', [16]),
      ],
      nodes: [
        makeNode('MatMul', ['x', 'w1'], ['p']),
        makeNode('Add', ['p', 'b1'], ['h']),
        makeNode('Gelu', ['h'], ['g'], { domain: 'com.microsoft' }),
        makeNode('MatMul', ['g', 'w2'], ['q'], { name: 'down' }),
        makeNode('Add', ['q', 'x'], ['r']),
        makeNode('LayerNormalization', ['r', 's', 't'], ['y'], { name: 'norm' }),
      ],
      domains: { 'com.microsoft': 1 },
    });
    const report = prune(model);
    expect(dimsOf(model, 'w1')).toEqual([16, 32]);
    expect(dimsOf(model, 'b1')).toEqual([32]);
    expect(dimsOf(model, 'w2')).toEqual([32, 16]);
    expect(report.kept).toEqual([
      { what: 'all 16 output channels of down', why: 'Add r combines them with a value of fixed size' },
    ]);
    expect(report.pruning?.groups).toEqual([{ layers: ['p'], channels_before: 64, channels_after: 32 }]);
  });

  test('GroupNormalization loses whole groups', async () => {
    const model = between(
      [makeNode('GroupNormalization', ['h', 's', 't'], ['m'], { attributes: { num_groups: 8 } })],
      [weight('s', [32]), weight('t', [32])],
    );
    prune(model);
    expect(dimsOf(model, 's')).toEqual([16]);
    expect(model.graph.nodes[1]?.attribute[0]?.i).toBe(4n);
    const { y } = await runSmall(model, { x: { dims: [1, 3, 8, 8], data: seededFloats(random, 192) } });
    expect(y?.dims).toEqual([1, 5, 8, 8]);
  });

  test('excluded layers keep their weights', () => {
    const model = between([makeNode('Relu', ['h'], ['m'])]);
    expect(() => prune(model, { exclude: ['last'] })).toThrow(/Conv last was excluded/);
    expect(() => prune(model, { exclude: ['Conv'] })).toThrow(/no channels/);
  });
});

describe('how much', () => {
  test('a compression of 1 changes nothing and says so', () => {
    const model = between([makeNode('Relu', ['h'], ['m'])]);
    const report = prune(model, { compression: 1 });
    expect(dimsOf(model, 'a')).toEqual([32, 3, 1, 1]);
    expect(report.notes.join()).toMatch(/nothing was changed/);
    expect(report.pruning).toMatchObject({ prunable_before: 256, prunable_after: 256 });
  });

  test('parameters in prunable groups are at most 1/compression', () => {
    for (const compression of [2, 3, 5, 16, 32]) {
      const { pruning } = prune(between([makeNode('Relu', ['h'], ['m'])]), { compression });
      expect(pruning!.prunable_after * compression).toBeLessThanOrEqual(pruning!.prunable_before);
      expect(pruning!.prunable_after).toBe(pruning!.groups[0]!.channels_after * 8);
    }
  });

  test('one out of reach names the largest and what holds it back', () => {
    expect(() => prune(between([makeNode('Relu', ['h'], ['m'])]), { compression: 33 })).toThrow(
      /33 cannot be reached; the maximum is 32: .*first \(1 of 32 channels left\)/,
    );
  });

  test('the weakest by group norm go; chance is decided by its seed', () => {
    const build = () => between([makeNode('Relu', ['h'], ['m'])]);
    const model = build();
    const [a, b] = [floatsOf(model.graph.initializer('a')!), floatsOf(model.graph.initializer('b')!)];
    const norm = (channel: number) =>
      a.slice(channel * 3, channel * 3 + 3).reduce((sum, value) => sum + value ** 2, 0) +
      [0, 1, 2, 3, 4].reduce((sum, output) => sum + b[output * 32 + channel]! ** 2, 0);
    const strongest = Array.from({ length: 32 }, (_, at) => at)
      .toSorted((p, q) => norm(q) - norm(p))
      .slice(0, 16)
      .toSorted((p, q) => p - q);
    prune(model);
    expect([...floatsOf(model.graph.initializer('a')!)]).toEqual(
      strongest.flatMap((channel) => [...a.slice(channel * 3, channel * 3 + 3)]),
    );
    const chosen = (seed: number) => {
      const other = copyOf(original);
      prune(other, { strategy: 'random', seed });
      return [...floatsOf(other.graph.initializer('a')!)];
    };
    const original = build();
    expect(chosen(3)).toEqual(chosen(3));
    expect(chosen(3)).not.toEqual(chosen(4));
  });
});

describe('what is edited', () => {
  test('constants that unrelated layers share are copied, declared shapes dropped', async () => {
    const bias = weight('bias', [8]);
    const model = smallModel({
      inputs: { x: [1, 3, 4, 4] },
      outputs: { y: [1, 8, 4, 4] },
      constants: [weight('a', [8, 3, 1, 1]), weight('b', [8, 8, 1, 1]), bias],
      nodes: [
        makeNode('Conv', ['x', 'a', 'bias'], ['h'], { name: 'first' }),
        makeNode('Conv', ['h', 'b', 'bias'], ['y'], { name: 'last' }),
      ],
    });
    model.graph.proto.valueInfo = [valueInfoOf({ name: 'h', type: 'float', dims: [1, 8, 4, 4] })];
    prune(model);
    expect(model.graph.proto.valueInfo).toEqual([]);
    expect(dimsOf(model, 'bias')).toEqual([8]);
    expect(dimsOf(model, model.graph.nodes[0]!.input[2]!)).toEqual([4]);
    const { y } = await runSmall(model, { x: { dims: [1, 3, 4, 4], data: seededFloats(random, 48) } });
    expect(y?.dims).toEqual([1, 8, 4, 4]);
  });

  test('layers are reported with their parameters', () => {
    const report = prune(between([makeNode('Relu', ['h'], ['m'])]));
    expect(report.layers).toEqual([
      expect.objectContaining({
        layer: 'first',
        operator: 'Conv',
        weight: 'a',
        parameters_before: 96,
        parameters_after: 48,
      }),
      expect.objectContaining({ layer: 'last', parameters_before: 160, parameters_after: 80 }),
    ]);
  });
});
