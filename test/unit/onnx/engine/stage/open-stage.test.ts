import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openStage } from '../../../../../shared/onnx/engine/stage/open-stage.ts';
import { saveModel } from '../../../../../shared/onnx/model/file/save-model.ts';
import { makeNode } from '../../../../../shared/onnx/model/graph/graph.ts';
import { makeInt64s } from '../../../../../shared/onnx/model/tensor/tensor.ts';
import { smallModel } from '../../../../support/onnx/small-model.ts';
import { testFolder } from '../../../../support/onnx/stage-program.ts';
import { writeNpz } from '../../../../support/onnx/write-npz.ts';

/** A model that opens, and runs on eight numbers in rows of four, or on none where rows have three. */
const rowsOf = (columns: number) =>
  smallModel({
    nodes: [makeNode('Reshape', ['x', 'shape'], ['y'])],
    constants: [makeInt64s('shape', [-1, columns])],
    inputs: { x: ['n'] },
    outputs: { y: ['rows', columns] },
  });

async function tried(before: number, after: number) {
  const folder = await testFolder();
  const paths = [before, after].map((columns, at) => {
    const [file = ''] = saveModel(rowsOf(columns), folder, `${at}.onnx`);
    return join(folder, file);
  });
  const [model = '', result = ''] = paths;
  const dims = { declared: [null], dims: [8] };
  const input = { name: 'x', type: 'float', ...dims, values: 'normal' as const, below: 0 };
  const feed = { inputs: [input], set: null, source: 'synthetic' as const, samples: 4, seed: 0 };
  return await openStage({ kind: 'open', model: result, of: 'result', trial: { before: model, feed } });
}

test('a result that opens and runs is taken', async () => {
  expect(await tried(4, 2)).toEqual({ is_finite: true });
});

test('a result that answers with infinity to a later sample is found', async () => {
  const folder = await testFolder();
  const [inverse = ''] = saveModel(
    smallModel({
      nodes: [makeNode('Reciprocal', ['x'], ['y'])],
      constants: [],
      inputs: { x: [4] },
      outputs: { y: [4] },
    }),
    folder,
  );
  const set = join(folder, 'set.npz');
  const rows = Float32Array.from({ length: 12 }, (_, at) => (at === 9 ? 0 : 1));
  await writeNpz(set, { x: { type: 'float', dims: [3, 4], values: rows } });
  const model = join(folder, inverse);
  const input = {
    ...{ name: 'x', type: 'float', declared: [4], dims: [4] },
    ...{ values: 'normal' as const, below: 0 },
  };
  const feed = { inputs: [input], set, source: 'calibration' as const, samples: 3, seed: 0 };

  // A slow machine ends the trial before the last sample.
  const clock = vi.spyOn(performance, 'now').mockReturnValue(0);
  onTestFinished(() => clock.mockRestore());

  const opened = await openStage({ kind: 'open', model, of: 'result', trial: { before: model, feed } });

  expect(opened).toEqual({ is_finite: false });
});

test('a result that opens, and does not run where its model does, is refused', async () => {
  await expect(tried(4, 3)).rejects.toThrow('The result does not run, but the model does.');
});

test('an input that the model does not take either shows nothing', async () => {
  expect(await tried(3, 3)).toEqual({});
});
