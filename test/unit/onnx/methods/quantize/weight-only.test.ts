import { describe, expect, test } from 'vitest';
import { quantizeWeightOnly } from '../../../../../shared/onnx/methods/quantize/blocks/weight-only.ts';
import { TransformReport } from '../../../../../shared/onnx/methods/report/report.ts';
import { makeNode } from '../../../../../shared/onnx/model/graph/graph.ts';
import { makeTensor } from '../../../../../shared/onnx/model/tensor/tensor.ts';
import { seededFloats } from '../../../../support/onnx/seeded.ts';
import { copyOf, relativeError, runSmall, smallModel } from '../../../../support/onnx/small-model.ts';
import { seededRandom } from '../../../../support/seeded-random.ts';

const formats = [
  { precision: 4, quant_type: 'int4', bound: 0.2 },
  { precision: 4, quant_type: 'uint4', bound: 0.2 },
  { precision: 8, quant_type: 'int8', bound: 0.03 },
  { precision: 8, quant_type: 'uint8', bound: 0.03 },
] as const;

/** A product, a Gemm with transposed weight and bias, and a second use of the product's weight. */
function products() {
  const random = seededRandom(1);
  return smallModel({
    nodes: [
      makeNode('MatMul', ['x', 'w'], ['a'], { name: 'first' }),
      makeNode('Relu', ['a'], ['b']),
      makeNode('MatMul', ['b', 'w'], ['c'], { name: 'second' }),
      makeNode('Gemm', ['c', 'v', 'bias'], ['y'], { name: 'head', attributes: { transB: 1 } }),
    ],
    constants: [
      makeTensor('w', 'float', [40, 40], seededFloats(random, 1600)),
      makeTensor('v', 'float', [7, 40], seededFloats(random, 280)),
      makeTensor('bias', 'float', [7], seededFloats(random, 7)),
    ],
    inputs: { x: ['batch', 40] },
    outputs: { y: ['batch', 7] },
  });
}

const x = { x: { dims: [3, 40], data: seededFloats(seededRandom(2), 120) } };

describe('weights in blocks', () => {
  test.each(formats)('of $quant_type answer nearly the same', async ({ precision, quant_type, bound }) => {
    const before = await runSmall(products(), x);
    const model = products();
    const report = new TransformReport();
    quantizeWeightOnly(model, { precision, quant_type, exclude: [] }, report);
    const saved = copyOf(model);
    const after = await runSmall(saved, x);
    expect(relativeError(after['y']?.data ?? [], before['y']?.data ?? [])).toBeLessThan(bound);
    expect(saved.graph.nodes.map(({ opType }) => opType)).toEqual([
      'MatMulNBits',
      'Relu',
      'MatMulNBits',
      'MatMulNBits',
      'Add',
    ]);
    expect(report.layers.map(({ weight, error }) => [weight, (error ?? 1) < bound])).toEqual([
      ['w', true],
      ['v', true],
    ]);
  });

  test('a weight that holds NaN stays as it was and is reported; where it is the only one, the fault says so', () => {
    const model = products();
    const v = seededFloats(seededRandom(1), 280);
    v[3] = Number.NaN;
    model.graph.put(makeTensor('v', 'float', [7, 40], v));
    const report = new TransformReport();
    quantizeWeightOnly(model, { precision: 4, quant_type: 'int4', exclude: [] }, report);
    expect(report.kept).toEqual([{ what: 'head', why: 'its weight contains NaN or infinite values' }]);
    expect(copyOf(model).graph.nodes.at(-1)?.opType).toBe('Gemm');
    const other = products();
    other.graph.put(makeTensor('v', 'float', [7, 40], v));
    const exclude = ['first', 'second'];
    expect(() =>
      quantizeWeightOnly(other, { precision: 4, quant_type: 'int4', exclude }, new TransformReport()),
    ).toThrow('head: its weight contains NaN or infinite values');
  });

  test('what a request excludes, or cannot be, stays as it was and is reported', () => {
    const model = products();
    const report = new TransformReport();
    quantizeWeightOnly(model, { precision: 4, quant_type: 'int4', exclude: ['Gemm', 'second'] }, report);
    expect(model.graph.nodes.map(({ opType }) => opType)).toEqual(['MatMulNBits', 'Relu', 'MatMul', 'Gemm']);
    expect(report.kept.map(({ what }) => what)).toEqual(['second', 'head']);
  });

  test('a model without such weights is refused', () => {
    const model = smallModel({
      nodes: [makeNode('Relu', ['x'], ['y'])],
      constants: [],
      inputs: { x: [2] },
      outputs: { y: [2] },
    });
    const quantize = () =>
      quantizeWeightOnly(model, { precision: 4, quant_type: 'int4', exclude: [] }, new TransformReport());
    expect(quantize).toThrow(/no constant float weight of MatMul, Gemm or Gather/);
  });

  test('a table that is looked up by columns stays once in float, and is reported', () => {
    const model = smallModel({
      nodes: [
        makeNode('Cast', ['x'], ['ids'], { attributes: { to: 7 } }),
        makeNode('Gather', ['table', 'ids'], ['columns'], { name: 'embed', attributes: { axis: 1 } }),
        makeNode('Transpose', ['columns'], ['e'], { attributes: { perm: [1, 0] } }),
        makeNode('MatMul', ['e', 'w'], ['t'], { name: 'middle' }),
        makeNode('MatMul', ['t', 'table'], ['y'], { name: 'head' }),
      ],
      constants: [
        makeTensor('table', 'float', [64, 50], seededFloats(seededRandom(3), 3200)),
        makeTensor('w', 'float', [64, 64], seededFloats(seededRandom(4), 4096)),
      ],
      inputs: { x: [4] },
      outputs: { y: [4, 50] },
    });
    const report = new TransformReport();

    quantizeWeightOnly(model, { precision: 4, quant_type: 'int4', exclude: [] }, report);

    expect(report.layers.map(({ weight }) => weight)).toEqual(['w']);
    expect(report.kept).toContainEqual({
      what: 'head',
      why: 'its weight is also needed in float: a second copy would make the file larger',
    });
  });

  test('a table that the output head shares is kept once', async () => {
    const table = seededFloats(seededRandom(3), 3200);
    const make = () =>
      smallModel({
        nodes: [
          makeNode('Cast', ['x'], ['ids'], { attributes: { to: 7 } }),
          makeNode('Gather', ['table', 'ids'], ['e'], { name: 'embed' }),
          makeNode('Transpose', ['table'], ['turned'], { attributes: { perm: [1, 0] } }),
          makeNode('MatMul', ['e', 'turned'], ['y'], { name: 'head' }),
        ],
        constants: [makeTensor('table', 'float', [50, 64], table)],
        inputs: { x: [4] },
        outputs: { y: [4, 50] },
      });
    const fed = { x: { dims: [4], data: Float32Array.of(0, 3, 49, 7) } };
    const model = make();
    quantizeWeightOnly(model, { precision: 4, quant_type: 'uint4', exclude: [] }, new TransformReport());
    const saved = copyOf(model);
    const bytes = [...saved.graph.initializers.values()].reduce((sum, { byteLength }) => sum + byteLength, 0);
    expect(bytes).toBeLessThan((50 * 64) / 2 + 50 * 2 * 4 + 50 + 64);
    expect(saved.graph.nodes.map(({ opType }) => opType)).toContain('GatherBlockQuantized');
    const before = await runSmall(make(), fed);
    const after = await runSmall(saved, fed);
    expect(relativeError(after['y']?.data ?? [], before['y']?.data ?? [])).toBeLessThan(0.2);
  });
});
