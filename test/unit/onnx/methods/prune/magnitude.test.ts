import { describe, expect, test } from 'vitest';
import { pruneMagnitude } from '../../../../../shared/onnx/methods/prune/magnitude.ts';
import { pruneNofM } from '../../../../../shared/onnx/methods/prune/n-of-m.ts';
import { TransformReport } from '../../../../../shared/onnx/methods/report/report.ts';
import type { Model } from '../../../../../shared/onnx/model/file/model.ts';
import { makeNode } from '../../../../../shared/onnx/model/graph/graph.ts';
import { ModelError } from '../../../../../shared/onnx/model/model-error.ts';
import { makeTensor } from '../../../../../shared/onnx/model/tensor/tensor.ts';
import { floatsOf } from '../../../../../shared/onnx/model/tensor/values.ts';
import { seededFloats } from '../../../../support/onnx/seeded.ts';
import { runSmall, smallModel } from '../../../../support/onnx/small-model.ts';
import { seededRandom } from '../../../../support/seeded-random.ts';

function twoLayers(seed = 1, scale = 1): Model {
  const random = seededRandom(seed);
  return smallModel({
    inputs: { x: [1, 8, 6, 6] },
    outputs: { y: [1, 5] },
    constants: [
      makeTensor('w1', 'float', [12, 8, 3, 3], seededFloats(random, 864, scale)),
      makeTensor('b1', 'float', [12], seededFloats(random, 12)),
      makeTensor('w2', 'float', [12, 5], seededFloats(random, 60)),
    ],
    nodes: [
      makeNode('Conv', ['x', 'w1', 'b1'], ['c'], { name: 'conv' }),
      makeNode('GlobalAveragePool', ['c'], ['p']),
      makeNode('Flatten', ['p'], ['f']),
      makeNode('Gemm', ['f', 'w2'], ['y'], { name: 'head' }),
    ],
  });
}

const weightOf = (model: Model, name: string): Float32Array => floatsOf(model.graph.initializer(name)!);
const countNonzero = (values: Float32Array): number => values.filter((value) => value !== 0).length;
const request = (strategy: 'magnitude_global' | 'magnitude_local' | 'n_m_2_4', compression: number) => ({
  strategy,
  compression,
  exclude: [] as string[],
});

/** What a full sort would keep, each channel's strongest first. */
function keptBySort(tensors: { values: Float32Array; channel: (at: number) => string }[], count: number) {
  const all = tensors.flatMap(({ values, channel }, tensor) =>
    [...values].map((value, at) => ({ tensor, at, size: Math.abs(value), channel: channel(at) })),
  );
  const sorted = all.toSorted((a, b) => b.size - a.size);
  const strongest = new Map<string, (typeof all)[number]>();
  for (const one of sorted) if (!strongest.has(one.channel)) strongest.set(one.channel, one);
  const kept = new Set(strongest.values());
  for (const one of sorted) if (kept.size < count) kept.add(one);
  return kept;
}

describe('magnitude', () => {
  test.each(['magnitude_global', 'magnitude_local', 'n_m_2_4'] as const)(
    '%s leaves a weight that holds NaN or infinity as it was',
    (strategy) => {
      const model = twoLayers();
      const own = Float32Array.from(weightOf(model, 'w1')).fill(Number.NaN, 0, 5);
      model.graph.put(makeTensor('w1', 'float', [12, 8, 3, 3], own));
      const report = new TransformReport();
      (strategy === 'n_m_2_4' ? pruneNofM : pruneMagnitude)(model, request(strategy, 2), report);
      expect(weightOf(model, 'w1')).toEqual(own);
      expect(report.kept).toEqual([{ what: 'weight w1 of conv', why: 'contains NaN or infinite values' }]);
      expect(countNonzero(weightOf(model, 'w2'))).toBe(30);
    },
  );

  test.each([2, 3, 10, 40])('global pruning keeps exactly what a sort would, 1/%i', (compression) => {
    const before = twoLayers(7, 0.3);
    const model = twoLayers(7, 0.3);
    const report = new TransformReport();
    pruneMagnitude(model, request('magnitude_global', compression), report);
    const expected = keptBySort(
      [
        { values: weightOf(before, 'w1'), channel: (at) => `conv${Math.floor(at / 72)}` },
        { values: weightOf(before, 'w2'), channel: (at) => `head${at % 5}` },
      ],
      Math.floor(924 / compression),
    );
    const kept = ['w1', 'w2'].flatMap((name, tensor) =>
      [...weightOf(model, name)].flatMap((value, at) => (value === 0 ? [] : [`${tensor}:${at}`])),
    );
    expect(kept.toSorted()).toEqual([...expected].map(({ tensor, at }) => `${tensor}:${at}`).toSorted());
    expect(report.pruning).toMatchObject({
      prunable_before: 924,
      prunable_after: Math.floor(924 / compression),
      model_before: 936,
    });
    expect(report.layers.map(({ layer }) => layer)).toEqual(['conv', 'head']);
  });

  test('local pruning keeps its part of each tensor', async () => {
    const model = twoLayers();
    const report = new TransformReport();
    pruneMagnitude(model, request('magnitude_local', 4), report);
    expect(countNonzero(weightOf(model, 'w1'))).toBe(216);
    expect(countNonzero(weightOf(model, 'w2'))).toBe(15);
    expect(report.layers.map(({ nonzero_after }) => nonzero_after)).toEqual([216, 15]);
    const { y } = await runSmall(model, { x: { dims: [1, 8, 6, 6], data: new Float32Array(288).fill(1) } });
    expect(y?.dims).toEqual([1, 5]);
  });

  test('of equals the first are kept, and every channel keeps one', () => {
    const model = smallModel({
      inputs: { x: [1, 4] },
      outputs: { y: [1, 4] },
      constants: [makeTensor('w', 'float', [4, 4], new Float32Array(16).fill(-2))],
      nodes: [makeNode('MatMul', ['x', 'w'], ['y'], { name: 'product' })],
    });
    pruneMagnitude(model, request('magnitude_global', 2), new TransformReport());
    expect([...weightOf(model, 'w')].map((value) => (value === 0 ? 0 : 1)).join('')).toBe('1111111100000000');
    pruneMagnitude(model, request('magnitude_global', 4), new TransformReport());
    expect(countNonzero(weightOf(model, 'w'))).toBe(4);
  });

  test('half precision keeps its type', () => {
    const model = smallModel({
      inputs: { x: [1, 2] },
      outputs: { y: [1, 2] },
      constants: [makeTensor('w', 'float16', [2, 2], Uint16Array.of(0x3c00, 0x4000, 0x4200, 0xbc00))],
      nodes: [makeNode('MatMul', ['x', 'w'], ['y'])],
    });
    pruneMagnitude(model, request('magnitude_local', 2), new TransformReport());
    expect([...weightOf(model, 'w')]).toEqual([0, 2, 3, 0]);
    expect(model.graph.initializer('w')?.type).toBe('float16');
  });

  test('a model whose weights are computed as it runs is refused with the operators that compute them', () => {
    const stored = smallModel({
      inputs: { x: [1, 8] },
      outputs: { y: [1, 5] },
      constants: [makeTensor('h', 'float16', [8, 5], new Float16Array(40).fill(1))],
      nodes: [
        makeNode('Cast', ['h'], ['w'], { attributes: { to: 1 } }),
        makeNode('MatMul', ['x', 'w'], ['y'], { name: 'head' }),
      ],
    });

    const prune = () => pruneMagnitude(stored, request('magnitude_global', 2), new TransformReport());

    expect(prune).toThrow('Unchanged: head: its weight is computed by Cast while the model runs.');
  });

  test('a compression out of reach names the largest one and what holds it back', () => {
    const refuse = (strategy: 'magnitude_global' | 'magnitude_local', compression: number) => () =>
      pruneMagnitude(twoLayers(), request(strategy, compression), new TransformReport());
    expect(refuse('magnitude_global', 55)).toThrow(/the maximum is 54: .*head has 12 weights/);
    expect(refuse('magnitude_local', 13)).toThrow(/the maximum is 12: .*head has 12 weights/);
    expect(refuse('magnitude_global', 54)).not.toThrow();
    expect(refuse('magnitude_local', 13)).toThrow(ModelError);
  });

  test('a compression of 1 changes nothing and says so', () => {
    const model = twoLayers();
    const report = new TransformReport();
    pruneMagnitude(model, request('magnitude_global', 1), report);
    expect(weightOf(model, 'w1')).toEqual(weightOf(twoLayers(), 'w1'));
    expect(report.notes.join()).toMatch(/nothing was changed/);
    expect(report.pruning).toMatchObject({ reached: 1, model_ratio: 1 });
  });

  test('excluded layers and embeddings stay and are reported', () => {
    const model = twoLayers();
    model.graph.nodes.push(makeNode('Gather', ['w2', 'index'], ['rows']));
    const report = new TransformReport();
    const none = () =>
      pruneMagnitude(model, { ...request('magnitude_global', 2), exclude: ['Conv'] }, report);
    expect(none).toThrow(/no prunable weight/);
    expect(report.kept).toEqual([
      { what: 'weight w1 of conv', why: 'was excluded' },
      { what: 'weight w2 of head', why: 'is also used by Gather rows' },
    ]);
  });
});

describe('2 of 4', () => {
  test('each four input channels of a kernel position keep their two largest', () => {
    const before = weightOf(twoLayers(3), 'w1');
    const model = twoLayers(3);
    pruneNofM(model, request('n_m_2_4', 2), new TransformReport());
    const after = weightOf(model, 'w1');
    for (let filter = 0; filter < 12; filter += 1) {
      for (let place = 0; place < 9; place += 1) {
        for (const four of [0, 4]) {
          const at = [0, 1, 2, 3].map((one) => filter * 72 + (four + one) * 9 + place);
          const largest = at.toSorted((a, b) => Math.abs(before[b]!) - Math.abs(before[a]!)).slice(0, 2);
          expect(at.filter((one) => after[one] !== 0)).toEqual(largest.toSorted((a, b) => a - b));
        }
      }
    }
    expect(countNonzero(weightOf(model, 'w2'))).toBe(30);
  });

  test('tensors that 4 does not divide are kept and reported', () => {
    const random = seededRandom(1);
    const model = smallModel({
      inputs: { x: [1, 6] },
      outputs: { y: [1, 4] },
      constants: [
        makeTensor('a', 'float', [6, 8], seededFloats(random, 48)),
        makeTensor('b', 'float', [4, 8], seededFloats(random, 32)),
      ],
      nodes: [
        makeNode('MatMul', ['x', 'a'], ['h'], { name: 'first' }),
        makeNode('Gemm', ['h', 'b'], ['y'], { name: 'second', attributes: { transB: 1 } }),
      ],
    });
    const report = new TransformReport();
    pruneNofM(model, request('n_m_2_4', 2), report);
    expect(report.kept).toEqual([
      { what: 'weight a of first', why: 'has 6 input channels, not a multiple of 4' },
    ]);
    const rows = weightOf(model, 'b');
    for (let at = 0; at < 32; at += 4) expect(countNonzero(rows.slice(at, at + 4))).toBe(2);
    expect(report.pruning).toMatchObject({ prunable_before: 32, prunable_after: 16, reached: 2 });
    expect(() => pruneNofM(model, request('n_m_2_4', 3), report)).toThrow(/must be 2/);
  });
});

test('a weight with one value for each channel is kept, and the others are pruned', () => {
  const random = seededRandom(4);
  const model = smallModel({
    inputs: { x: [1, 1, 6] },
    outputs: { y: [1, 4, 6] },
    constants: [
      makeTensor('w1', 'float', [8, 1, 1], seededFloats(random, 8)),
      makeTensor('w2', 'float', [4, 8, 1], seededFloats(random, 32)),
    ],
    nodes: [
      makeNode('Conv', ['x', 'w1'], ['a'], { name: 'first' }),
      makeNode('Conv', ['a', 'w2'], ['y'], { name: 'second' }),
    ],
  });
  const report = new TransformReport();
  pruneMagnitude(model, request('magnitude_local', 2), report);
  expect([countNonzero(weightOf(model, 'w1')), countNonzero(weightOf(model, 'w2'))]).toEqual([8, 16]);
  expect(report.kept).toEqual([
    {
      what: 'weight w1 of first',
      why: 'has one value for each output channel, which keeps at least one',
    },
  ]);
});
