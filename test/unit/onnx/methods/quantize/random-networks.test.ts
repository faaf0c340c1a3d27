import { expect, test } from 'vitest';
import { quantizeDynamic } from '../../../../../shared/onnx/methods/quantize/dynamic/quantize-dynamic.ts';
import { quantizeStatic } from '../../../../../shared/onnx/methods/quantize/static/quantize-static.ts';
import { TransformReport } from '../../../../../shared/onnx/methods/report/report.ts';
import { calibrated } from '../../../../support/onnx/calibrated.ts';
import { randomBlock, randomFlatten } from '../../../../support/onnx/random-blocks.ts';
import { type Made, NetworkMaker } from '../../../../support/onnx/random-network.ts';
import { runOptimized, sampleOf } from '../../../../support/onnx/run-optimized.ts';
import { relativeError } from '../../../../support/onnx/small-model.ts';

const input = [2, 8, 6, 6];

function network(seed: number) {
  const make = new NetworkMaker(seed);
  let x: Made = { name: 'x', dims: input };
  for (let left = 2 + make.below(3); left > 0; left -= 1) x = randomBlock(make, x);
  const hidden = make.activation(make.linear(randomFlatten(make, x), 12));
  return make.finish(input, make.linear(hidden, 6));
}

const open = {
  ...{ per_channel: true, reduce_range: false, leaf_node: false, exclude: [] },
  ...{ smooth_alpha: null, equalize: false, bias_correction: false, inputs_only: false },
};

test.each(Array.from({ length: 12 }, (_, at) => at + 1))(
  'network %d answers nearly the same when it is quantized',
  async (seed) => {
    const samples = [1, 2, 3].map((at) => sampleOf('x', input, seed * 10 + at));
    const before = await runOptimized(network(seed), samples);
    for (const request of [
      { ...open, quant_type: 'int8' },
      { ...open, quant_type: 'uint8', leaf_node: true },
    ] as const) {
      const model = network(seed);
      const ranges = await calibrated(network(seed), request, samples);
      quantizeStatic(model, request, ranges, new TransformReport());
      expect(relativeError(await runOptimized(model, samples), before)).toBeLessThan(0.1);
    }
    const model = network(seed);
    const request = { ...open, quant_type: 'int8' as const, include: ['Conv' as const] };
    quantizeDynamic(model, request, new TransformReport());
    expect(relativeError(await runOptimized(model, samples), before)).toBeLessThan(0.1);
  },
);
