import { expect, test } from 'vitest';
import { quantizeStatic } from '../../../../../shared/onnx/methods/quantize/static/quantize-static.ts';
import type { StaticRequest } from '../../../../../shared/onnx/methods/quantize/static/static-operators.ts';
import { TransformReport } from '../../../../../shared/onnx/methods/report/report.ts';
import type { Model } from '../../../../../shared/onnx/model/file/model.ts';
import { makeNode } from '../../../../../shared/onnx/model/graph/graph.ts';
import { makeTensor } from '../../../../../shared/onnx/model/tensor/tensor.ts';
import { calibrated } from '../../../../support/onnx/calibrated.ts';
import { convolutional, transformer } from '../../../../support/onnx/quantizable-networks.ts';
import { type Floats, runOptimized, sampleOf } from '../../../../support/onnx/run-optimized.ts';
import { copyOf, relativeError, smallModel } from '../../../../support/onnx/small-model.ts';

const request: StaticRequest = {
  ...{ quant_type: 'uint8', per_channel: true, reduce_range: false, leaf_node: false, exclude: [] },
  ...{ smooth_alpha: null, equalize: false, bias_correction: false, inputs_only: true },
};

async function quantized(
  made: () => Model,
  samples: readonly Record<string, Floats>[],
  changes: Partial<StaticRequest>,
) {
  const changed = { ...request, ...changes };
  const ranges = await calibrated(made(), { ...changed, floatInputs: [] }, samples);
  const [model, report] = [made(), new TransformReport()];
  quantizeStatic(model, changed, ranges, report);
  return { model: copyOf(model), report };
}

const inputOf = ({ graph }: Model, name: string): string =>
  graph.nodes.find((node) => node.name === name)?.input[0] ?? '';

test('a MatMul whose input stays float still has its weight in 8 bits', async () => {
  const samples = [1, 2, 3].map((seed) => sampleOf('x', [1, 4, 16], seed));
  const made = () => transformer(17);
  const all = await quantized(made, samples, {});
  const names = ['q.mm_node', 'k.mm_node', 'o.mm_node', 'f.mm_node', 'g.mm_node'];
  const some = await quantized(made, samples, { floatInputs: names });
  expect(inputOf(all.model, 'f.mm_node')).toMatch(/DequantizeLinear/);
  expect(inputOf(some.model, 'f.mm_node')).toBe('normal');
  expect(some.model.graph.nodes.some(({ opType }) => opType === 'QuantizeLinear')).toBe(false);
  expect(some.model.graph.initializers.get('f.w_quantized')).toMatchObject({ type: 'int8', dims: [16, 32] });
  expect(some.report.layers).toHaveLength(all.report.layers.length);
  const why = 'its input stays float: in 8 bits it would exceed max_error';
  expect(some.report.kept).toEqual(names.map((what) => ({ what, why })));
  const truth = await runOptimized(made(), samples);
  const [before, after] = [all, some].map(({ model }) => runOptimized(model, samples));
  expect(relativeError((await after) ?? [], truth)).toBeLessThan(relativeError((await before) ?? [], truth));
});

test('so do Conv and Gemm, by their own axes', async () => {
  const samples = [1, 2, 3].map((seed) => sampleOf('x', [1, 8, 6, 6], seed));
  const made = () => convolutional(13);
  const floatInputs = ['d_node', 'y_node'];
  const { model, report } = await quantized(made, samples, { floatInputs });
  expect(report.kept.map(({ what }) => what)).toEqual(floatInputs);
  expect(inputOf(model, 'd_node')).toBe('pool');
  expect(model.graph.initializers.get('d.w_scale')?.dims).toEqual([4]);
  expect(model.graph.initializers.get('fc.w_scale')?.dims).toEqual([5]);
  // A bias is int32 only at the scale of a quantized input.
  expect(model.graph.initializers.has('d.b_quantized')).toBe(false);
  const error = relativeError(await runOptimized(model, samples), await runOptimized(made(), samples));
  expect(error).toBeLessThan(0.1);
});

test('with inputs_only a table can be all that is quantized', () => {
  const model = smallModel({
    nodes: [
      makeNode('Gather', ['table', 'x'], ['rows'], { name: 'lookup' }),
      makeNode('MatMul', ['rows', 'w'], ['y'], { name: 'product' }),
    ],
    constants: [
      makeTensor('table', 'float', [2, 2], Float32Array.of(1, 2, 3, 4)),
      makeTensor('w', 'float', [2, 2], Float32Array.of(1, 2, 3, 4)),
      makeTensor('x', 'int64', [1], BigInt64Array.of(1n)),
    ],
    inputs: {},
    outputs: { y: [1, 2] },
  });
  const report = new TransformReport();
  quantizeStatic(model, { ...request, exclude: ['product'] }, new Map(), report);
  expect(report.layers.map(({ layer }) => layer)).toEqual(['lookup']);
});
