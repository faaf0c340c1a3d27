import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
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
import { seededRandom } from '../../support/seeded-random.ts';

const width = 32;
const random = seededRandom(5);
/** A branch for each size; the output follows the largest one. */
const branches = [1, 30, 1, 1];
const constant = (name: string, size: number) =>
  makeTensor(
    name,
    'float',
    [width, width],
    seededFloats(random, width * width, 1).map((value) => value * size),
  );
const model = smallModel({
  nodes: [
    ...branches.map((_, at) => makeNode('MatMul', ['x', `w${at}`], [`a${at}`], { name: `branch${at}` })),
    makeNode('Sum', ['a0', 'a1', 'a2', 'a3'], ['y']),
  ],
  constants: branches.map((size, at) => constant(`w${at}`, size)),
  inputs: { x: ['batch', width] },
  outputs: { y: ['batch', width] },
});

async function quantize(changes: Record<string, unknown>): Promise<Receipt> {
  const folder = await testFolder();
  const [source, work] = [join(folder, 'model'), join(folder, 'work')];
  for (const one of [source, work]) mkdirSync(one);
  saveModel(model, source);
  const calibration = join(folder, 'calibration.npz');
  await writeNpz(calibration, {
    x: { type: 'float', dims: [16, width], values: seededFloats(seededRandom(7), 16 * width, 1) },
  });
  const request = {
    operation: 'quantize',
    strategy: 'weight_only',
    precision: 4,
    measure: 'none',
    ...changes,
  };
  const { receipt } = await optimizeModel({
    ...{ request: parseRequest(request), model: join(source, 'model.onnx'), calibration, folder: work },
    ...{ stageCommand: stageCommand(), say: () => {}, progress: () => {} },
    signal: new AbortController().signal,
  });
  return receipt;
}

test('within the mean bits of a weight, the layer that loses the most on the set has 8 bits', async () => {
  const receipt = await quantize({ mean_bits: 5 });

  expect(receipt.notes).toContain('mean_bits 5: the blocks of 1 layers have 8 bits (branch1).');
  const plain = await quantize({ measure: 'quick' });
  const errorOf = ({ outputs }: Receipt): number => outputs[0]?.relative_l2_error ?? Number.NaN;
  expect(errorOf(receipt)).toBeLessThan(0.3 * errorOf(plain));
});
