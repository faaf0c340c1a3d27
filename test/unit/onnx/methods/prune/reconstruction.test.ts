import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import type { InputStatistics } from '../../../../../shared/onnx/methods/calibrate/statistics-file.ts';
import {
  compensation,
  PivotedCholesky,
} from '../../../../../shared/onnx/methods/prune/reconstruct/least-squares.ts';
import { pruningInputs } from '../../../../../shared/onnx/methods/prune/reconstruct/pruning-inputs.ts';
import { pruneStructured } from '../../../../../shared/onnx/methods/prune/structured/prune-structured.ts';
import { TransformReport } from '../../../../../shared/onnx/methods/report/report.ts';
import type { Model } from '../../../../../shared/onnx/model/file/model.ts';
import { makeNode } from '../../../../../shared/onnx/model/graph/graph.ts';
import { elementCount, makeTensor, type Tensor } from '../../../../../shared/onnx/model/tensor/tensor.ts';
import { seededFloats } from '../../../../support/onnx/seeded.ts';
import { copyOf, relativeError, runSmall, smallModel } from '../../../../support/onnx/small-model.ts';
import { seededRandom } from '../../../../support/seeded-random.ts';

interface Case {
  channels: number;
  kernel: number;
  sets: number[][];
  covariance: number[];
  weights: number[];
  order: number[];
  gains: number[];
  kept: number[];
  compensated: number[];
}

/** What the NumPy program in `references` answered. */
const cases = JSON.parse(
  readFileSync(join(import.meta.dirname, 'references/reconstruction.json'), 'utf8'),
) as Case[];

describe('as the NumPy program computes it', () => {
  test.each(cases)('$channels channels in sets of $sets.0.length, kernel of $kernel', (one) => {
    const { channels, kernel } = one;
    const [covariance, weights] = [Float64Array.from(one.covariance), Float64Array.from(one.weights)];
    const sets = new Map(one.sets.entries());
    const cholesky = new PivotedCholesky(covariance, weights, channels, sets, kernel);
    const left = new Set(sets.keys());
    for (const [rank, expected] of one.order.entries()) {
      const best = [...left].reduce((a, b) => (cholesky.gain(b) > cholesky.gain(a) ? b : a));
      expect(best, `rank ${rank}`).toBe(expected);
      expect(cholesky.gain(best)).toBeCloseTo(one.gains[rank]!, 6);
      cholesky.keep(best);
      left.delete(best);
    }
    const removed = Array.from({ length: channels }, (_, at) => at).filter((at) => !one.kept.includes(at));
    const added = compensation(covariance, channels, weights, one.kept, removed)!;
    const width = weights.length / channels;
    const rows = one.kept.flatMap((place, row) =>
      Array.from({ length: width }, (_, at) => weights[place * width + at]! + added[row * width + at]!),
    );
    expect(relativeError(rows, one.compensated)).toBeLessThan(1e-10);
  });
});

let random: () => number;
// Each test draws the same, whatever ran before it.
beforeEach(() => {
  random = seededRandom(32);
});
const weight = (name: string, dims: readonly number[], scale = 0.5): Tensor =>
  makeTensor(name, 'float', dims, seededFloats(random, elementCount(dims), scale));

/** The statistics of a model's inputs over samples of `x`. */
async function observed(model: Model, dims: readonly number[], samples: number) {
  const wanted = pruningInputs(model, []);
  const values = { x: { dims, data: seededFloats(random, elementCount(dims), 1.5) } };
  model.graph.proto.output.push(
    ...wanted
      .filter(({ name }) => name !== 'x')
      .map(({ name }) => ({ ...model.graph.outputs[0]!, name, type: undefined! })),
  );
  const found = new Map<string, InputStatistics>();
  for (let sample = 0; sample < samples; sample += 1) {
    values.x.data = seededFloats(random, elementCount(dims), 1.5);
    const results = await runSmall(model, values);
    for (const { name, axis, channels } of wanted) {
      const { dims: own, data } = results[name]!;
      const inner = axis === 1 ? elementCount(own.slice(2)) : 1;
      const rows = data.length / channels;
      const known = found.get(name);
      const mean = known?.mean ?? new Float64Array(channels);
      const moment = known?.moment() ?? new Float64Array(channels * channels);
      const of = (row: number, channel: number) =>
        data[Math.floor(row / inner) * channels * inner + channel * inner + (row % inner)]!;
      for (let row = 0; row < rows; row += 1)
        for (let a = 0; a < channels; a += 1) {
          mean[a]! += of(row, a) / rows / samples;
          for (let b = 0; b < channels; b += 1)
            moment[a * channels + b]! += (of(row, a) * of(row, b)) / rows / samples;
        }
      found.set(name, { channels, rows: rows * samples, mean, largest: mean, moment: () => moment });
    }
  }
  return found;
}

/** The error of the output after pruning to half. */
async function errorOf(
  original: Model,
  dims: readonly number[],
  request:
    | { strategy: 'structured_l2' }
    | { strategy: 'structured_reconstruct'; allocation: 'uniform' | 'sensitivity' },
): Promise<{ error: number; report: TransformReport }> {
  const statistics = await observed(copyOf(original), dims, 6);
  const model = copyOf(original);
  const report = new TransformReport();
  pruneStructured(model, { ...request, compression: 2, exclude: [], seed: 0 }, report, statistics);
  const feeds = { x: { dims, data: seededFloats(seededRandom(77), elementCount(dims), 1.5) } };
  const [is, was] = [await runSmall(copyOf(model), feeds), await runSmall(original, feeds)];
  return { error: relativeError(is['y']!.data, was['y']!.data), report };
}

/** Channels of which half are mixtures of the other half and constants: nothing has to be lost. */
function redundant(padding: number): Model {
  const first = seededFloats(random, 16 * 4, 0.5);
  const doubled = Float32Array.from({ length: 32 * 4 }, (_, at) => {
    const channel = Math.floor(at / 4);
    return channel < 16 ? (first[at] ?? 0) : 2 * (first[at - 64] ?? 0);
  });
  const bias = seededFloats(random, 16, 0.3);
  return smallModel({
    inputs: { x: [4, 4, 6, 6] },
    outputs: { y: [4, 5, padding === 0 ? 4 : 6, padding === 0 ? 4 : 6] },
    constants: [
      makeTensor('a', 'float', [32, 4, 1, 1], doubled),
      makeTensor(
        'ab',
        'float',
        [32],
        Float32Array.from({ length: 32 }, (_, at) => (bias[at % 16] ?? 0) * (at < 16 ? 1 : 2)),
      ),
      weight('b', [5, 32, 3, 3]),
    ],
    nodes: [
      makeNode('Conv', ['x', 'a', 'ab'], ['h'], { name: 'first' }),
      makeNode('Relu', ['h'], ['r']),
      makeNode('Conv', ['r', 'b'], ['y'], {
        name: 'last',
        attributes: { pads: [padding, padding, padding, padding], kernel_shape: [3, 3] },
      }),
    ],
  });
}

describe('pruned to half', () => {
  test.each([0, 1])('channels that others predict cost nothing, padded by %i', async (padding) => {
    const model = redundant(padding);
    const request = { strategy: 'structured_reconstruct', allocation: 'uniform' } as const;
    const { error } = await errorOf(model, [4, 4, 6, 6], request);
    expect(error).toBeLessThan(5e-3);
    expect((await errorOf(model, [4, 4, 6, 6], { strategy: 'structured_l2' })).error).toBeGreaterThan(0.2);
  });

  test.each(['uniform', 'sensitivity'] as const)(
    'a residual network with depthwise and %s shares',
    async (allocation) => {
      const node = makeNode;
      const pads = { pads: [1, 1, 1, 1], kernel_shape: [3, 3] };
      const model = smallModel({
        inputs: { x: [4, 4, 6, 6] },
        outputs: { y: [4, 6] },
        constants: [
          ...[weight('a', [16, 4, 3, 3]), weight('b', [24, 16, 1, 1]), weight('d', [24, 1, 3, 3])],
          ...[
            weight('c', [16, 24, 1, 1]),
            weight('f', [12, 32, 1, 1]),
            weight('g', [6, 12]),
            weight('gb', [6]),
          ],
        ],
        nodes: [
          node('Conv', ['x', 'a'], ['s'], { name: 'stem', attributes: pads }),
          node('Relu', ['s'], ['r']),
          node('Conv', ['r', 'b'], ['w'], { name: 'wide' }),
          node('Relu', ['w'], ['wr']),
          node('Conv', ['wr', 'd'], ['dw'], { name: 'depth', attributes: { ...pads, group: 24 } }),
          node('Relu', ['dw'], ['dr']),
          node('Conv', ['dr', 'c'], ['n'], { name: 'narrow' }),
          node('Add', ['n', 'r'], ['sum']),
          node('Concat', ['sum', 'r'], ['both'], { attributes: { axis: 1 } }),
          node('Conv', ['both', 'f'], ['m'], { name: 'mix' }),
          node('GlobalAveragePool', ['m'], ['p']),
          node('Flatten', ['p'], ['flat']),
          node('Gemm', ['flat', 'g', 'gb'], ['y'], { name: 'head', attributes: { transB: 1 } }),
        ],
      });
      const own = await errorOf(model, [4, 4, 6, 6], { strategy: 'structured_reconstruct', allocation });
      const plain = await errorOf(model, [4, 4, 6, 6], { strategy: 'structured_l2' });
      expect(own.error).toBeLessThan(plain.error / 1.5);
      expect(own.report.pruning!.reached).toBeGreaterThanOrEqual(2);
    },
  );

  test('few values of each channel are a warning', async () => {
    const model = redundant(0);
    const statistics = await observed(copyOf(model), [4, 4, 6, 6], 1);
    const scarce = new Map([...statistics].map(([name, own]) => [name, { ...own, rows: 40 }]));
    const report = new TransformReport();
    const request = { strategy: 'structured_reconstruct', allocation: 'uniform' } as const;
    pruneStructured(copyOf(model), { ...request, compression: 2, exclude: [], seed: 0 }, report, scarce);
    expect(report.warnings.join()).toMatch(
      /SMALL: it has 40 values for each of the 32 input channels of last\./,
    );
  });

  test('without statistics of a layer its weights are left, and that is said', () => {
    const report = new TransformReport();
    const request = { strategy: 'structured_reconstruct', allocation: 'uniform' } as const;
    pruneStructured(redundant(0), { ...request, compression: 2, exclude: [], seed: 0 }, report, new Map());
    expect(report.kept).toContainEqual({
      what: 'the weights left in last',
      why: 'calibration has no finite values of its channels',
    });
  });
});
