import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { optimizeModel } from '../../../shared/onnx/engine/optimize/optimize-model.ts';
import { parseRequest } from '../../../shared/onnx/methods/apply/parse-request.ts';
import { saveModel } from '../../../shared/onnx/model/file/save-model.ts';
import { makeNode } from '../../../shared/onnx/model/graph/graph.ts';
import { makeTensor } from '../../../shared/onnx/model/tensor/tensor.ts';
import type { Receipt } from '../../../shared/onnx/receipt/receipt.ts';
import { seededFloats } from '../../support/onnx/seeded.ts';
import { smallModel } from '../../support/onnx/small-model.ts';
import { stageCommand, testFolder } from '../../support/onnx/stage-program.ts';
import { writeNpz } from '../../support/onnx/write-npz.ts';
import { everySample } from '../../support/samples.ts';
import { seededRandom } from '../../support/seeded-random.ts';

const width = 16;

/** Two products; the input of the first one has a channel a thousand times as large as the others, which it does not use. */
function outliers() {
  const random = seededRandom(5);
  const weight = (name: string) => {
    const values = seededFloats(random, width * width, 1);
    return makeTensor(name, 'float', [width, width], values);
  };
  const factors = new Float32Array(width).fill(1);
  factors[0] = 1000;
  const first = weight('w1');
  const values = seededFloats(random, width * width, 1).map((value, at) => (at < width ? 0 : value));
  return smallModel({
    nodes: [
      makeNode('Mul', ['x', 'factors'], ['large'], { name: 'factor' }),
      makeNode('MatMul', ['large', 'w1'], ['a'], { name: 'first' }),
      makeNode('Relu', ['a'], ['r'], { name: 'relu' }),
      makeNode('MatMul', ['r', 'w2'], ['y'], { name: 'second' }),
    ],
    constants: [
      makeTensor('factors', 'float', [width], factors),
      makeTensor('w1', 'float', first.dims, values),
      weight('w2'),
    ],
    inputs: { x: ['batch', width] },
    outputs: { y: ['batch', width] },
    opset: 13,
  });
}

async function quantize(changes: Record<string, unknown>): Promise<Receipt> {
  const folder = await testFolder();
  const [model, work] = [join(folder, 'model'), join(folder, 'work')];
  for (const one of [model, work]) mkdirSync(one);
  saveModel(outliers(), model);
  const calibration = join(folder, 'calibration.npz');
  const values = seededFloats(seededRandom(7), 32 * width, 1);
  await writeNpz(calibration, { x: { type: 'float', dims: [32, width], values } });
  const request = { operation: 'quantize', strategy: 'static_minmax', precision: 8, ...changes };
  const { receipt } = await optimizeModel({
    ...{ request: parseRequest(request), model: join(model, 'model.onnx'), calibration, folder: work },
    ...{ stageCommand: stageCommand(), say: () => {}, progress: () => {} },
    signal: new AbortController().signal,
  });
  return receipt;
}

const errorOf = ({ outputs }: Receipt): number => outputs[0]?.relative_l2_error ?? Number.NaN;
const reason = 'its input stays float: in 8 bits it would exceed max_error';

describe('max_error of a static quantization of products', () => {
  test('leaves the most sensitive input in float, and no weight', async () => {
    const without = await quantize({});
    expect(errorOf(without)).toBeGreaterThan(0.2);
    const receipt = await quantize({ max_error: 0.03 });
    expect(errorOf(receipt)).toBeLessThanOrEqual(0.03);
    expect(receipt.kept).toEqual([{ what: 'first', why: reason }]);
    expect(receipt.layers.map(({ layer }) => layer)).toEqual(['first', 'second']);
    expect(receipt.excluded_by_error).toEqual([]);
    expect(receipt.request['inputs_only']).toBe(false);
    expect(receipt.notes).toContain(
      'The inputs of 1 of 2 layers stay float to meet max_error 0.03; their weights are in 8 bits.',
    );
    expect(receipt.notes.join(' ')).toContain(
      'as with inputs_only: with all activations in 8 bits, the error was',
    );
  });

  test.runIf(everySample)('leaves weights in float only where no input in float suffices', async () => {
    const inputs = errorOf(await quantize({ max_error: 0.03 }));
    const receipt = await quantize({ max_error: 0.0042, inputs_only: true });
    expect(errorOf(receipt)).toBeLessThanOrEqual(0.0042);
    expect(errorOf(receipt)).toBeLessThan(inputs);
    expect(receipt.excluded_by_error).toHaveLength(1);
    expect(receipt.layers).toHaveLength(1);
    expect(receipt.notes.join(' ')).toContain('The inputs of all products stay float');
  });
});
