import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { saveModel } from '../../../shared/onnx/model/file/save-model.ts';
import { makeNode } from '../../../shared/onnx/model/graph/graph.ts';
import { smallModel } from '../../support/onnx/small-model.ts';
import { stageCommand, testFolder } from '../../support/onnx/stage-program.ts';
import { startStage } from '../../support/onnx/start-stage.ts';

test('sessions leave neither a device id nor reports for the maker of the runtime', async () => {
  const folder = await testFolder();
  const models = join(folder, 'models');
  mkdirSync(models);
  const model = smallModel({
    nodes: [makeNode('Relu', ['x'], ['y'])],
    constants: [],
    inputs: { x: [1, 2] },
    outputs: { y: [1, 2] },
  });
  const path = join(models, saveModel(model, models)[0] ?? '');
  const input = {
    name: 'x',
    type: 'float',
    declared: [1, 2],
    dims: [1, 2],
    values: 'normal' as const,
    below: 0,
  };
  const feed = { inputs: [input], set: null, source: 'synthetic' as const, samples: 1, seed: 0 };
  // The stage's home and temporary folder, too.
  const home = join(folder, 'home');
  mkdirSync(home);
  const place = {
    command: stageCommand(),
    user: undefined,
    folder: home,
    bounds: { memoryBytes: 2 ** 31, seconds: 3600 },
    say: () => {},
    signal: new AbortController().signal,
  };
  const { answer } = await startStage<'compare'>(place, { kind: 'compare', before: path, after: path, feed });
  expect(answer.outputs).toHaveLength(1);
  expect(readdirSync(home, { recursive: true })).toEqual([]);
});
