import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { curvatureOf, firstToLast } from '../../../../../shared/onnx/methods/calibrate/curvature.ts';
import type { InputStatistics } from '../../../../../shared/onnx/methods/calibrate/statistics-file.ts';
import { pruneMagnitude } from '../../../../../shared/onnx/methods/prune/magnitude.ts';
import { pruneNofM } from '../../../../../shared/onnx/methods/prune/n-of-m.ts';
import { leastSalient, sparsify, twoOfFour } from '../../../../../shared/onnx/methods/prune/sparse-gpt.ts';
import { pruneWithUpdate } from '../../../../../shared/onnx/methods/prune/update-pruning.ts';
import { TransformReport } from '../../../../../shared/onnx/methods/report/report.ts';
import { makeNode } from '../../../../../shared/onnx/model/graph/graph.ts';
import { makeTensor } from '../../../../../shared/onnx/model/tensor/tensor.ts';
import { floatsOf } from '../../../../../shared/onnx/model/tensor/values.ts';
import { seededFloats } from '../../../../support/onnx/seeded.ts';
import { copyOf, relativeError, runSmall, smallModel } from '../../../../support/onnx/small-model.ts';
import { seededRandom } from '../../../../support/seeded-random.ts';

interface Case {
  outputs: number;
  inputs: number;
  block: number;
  compression: number;
  moment: number[];
  weights: number[];
  updated: number[];
}

/** What the NumPy program in `references` answered. */
const cases = JSON.parse(
  readFileSync(join(import.meta.dirname, 'references/sparse-gpt.json'), 'utf8'),
) as Case[];

test.each(cases)('$outputs x $inputs in blocks of $block is as the NumPy program computes it', (one) => {
  const { outputs, inputs, block, compression, moment, updated } = one;
  const values = Float64Array.from(one.weights);
  const choose = compression === 0 ? twoOfFour : leastSalient(compression);
  const { factor } = curvatureOf(Float64Array.from(moment), inputs, firstToLast)!;
  sparsify(values, outputs, inputs, factor, choose, block);
  expect([...values].map((value) => value === 0)).toEqual(updated.map((value) => value === 0));
  expect(relativeError(values, updated)).toBeLessThan(1e-9);
});

describe('a layer', () => {
  const random = seededRandom(8);
  const mixing = seededFloats(random, 32 * 32);
  const rows = Array.from({ length: 300 }, () => {
    const own = seededFloats(random, 32);
    return Float32Array.from({ length: 32 }, (_, at) =>
      own.reduce((sum, value, from) => sum + value * 0.85 ** from * (mixing[from * 32 + at] ?? 0), 0),
    );
  });
  const moment = new Float64Array(32 * 32);
  for (const row of rows)
    for (let a = 0; a < 32; a += 1)
      for (let b = 0; b < 32; b += 1) moment[a * 32 + b]! += (row[a]! * row[b]!) / rows.length;
  const observed: InputStatistics = {
    ...{ channels: 32, rows: rows.length, mean: new Float64Array(32), largest: new Float64Array(32) },
    moment: () => moment,
  };
  const original = smallModel({
    nodes: [makeNode('MatMul', ['x', 'w'], ['y'], { name: 'product' })],
    constants: [makeTensor('w', 'float', [32, 24], seededFloats(random, 32 * 24))],
    inputs: { x: ['n', 32] },
    outputs: { y: ['n', 24] },
  });
  const x = { x: { dims: [300, 32], data: Float32Array.from(rows.flatMap((row) => [...row])) } };

  test.each(['sparsegpt', 'sparsegpt_2_4'] as const)('loses less with an update: %s', async (strategy) => {
    const [plain, updated] = [copyOf(original), copyOf(original)];
    const common = { compression: 2, exclude: [] };
    if (strategy === 'sparsegpt_2_4')
      pruneNofM(plain, { ...common, strategy: 'n_m_2_4' }, new TransformReport());
    else pruneMagnitude(plain, { ...common, strategy: 'magnitude_local' }, new TransformReport());
    const report = new TransformReport();
    pruneWithUpdate(updated, { ...common, strategy }, report, new Map([['x', observed]]));
    const was = (await runSmall(original, x))['y']!.data;
    const errorOf = async (model: typeof plain) => relativeError((await runSmall(model, x))['y']!.data, was);
    expect(await errorOf(updated)).toBeLessThan(0.7 * (await errorOf(plain)));
    const left = floatsOf(updated.graph.initializer('w')!);
    expect(left.filter((value) => value !== 0)).toHaveLength(384);
    expect(report.pruning).toMatchObject({ prunable_before: 768, prunable_after: 384, reached: 2 });
  });

  test('of which nothing was observed is refused, with the reason', () => {
    const request = { strategy: 'sparsegpt' as const, compression: 2, exclude: [] };
    expect(() => pruneWithUpdate(copyOf(original), request, new TransformReport(), new Map())).toThrow(
      /no weight .* can be updated.*calibration has no finite values/,
    );
  });
});
