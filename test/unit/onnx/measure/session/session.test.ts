import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Session } from '../../../../../shared/onnx/measure/session/session.ts';
import { saveModel } from '../../../../../shared/onnx/model/file/save-model.ts';
import { makeNode } from '../../../../../shared/onnx/model/graph/graph.ts';
import { makeTensor } from '../../../../../shared/onnx/model/tensor/tensor.ts';
import { seededFloats } from '../../../../support/onnx/seeded.ts';
import { smallModel } from '../../../../support/onnx/small-model.ts';
import { testFolder } from '../../../../support/onnx/stage-program.ts';
import { seededRandom } from '../../../../support/seeded-random.ts';

test('a session on several threads gives the outputs of one thread, to the bit', async () => {
  const folder = await testFolder();
  const model = smallModel({
    nodes: [
      makeNode('MatMul', ['x', 'w'], ['h'], { name: 'product' }),
      makeNode('Softmax', ['h'], ['y'], { name: 'shares' }),
    ],
    constants: [makeTensor('w', 'float', [384, 512], seededFloats(seededRandom(1), 384 * 512))],
    inputs: { x: [96, 384] },
    outputs: { y: [96, 512] },
  });
  saveModel(model, folder);
  const feeds = new Map([
    ['x', { type: 'float' as const, dims: [96, 384], values: seededFloats(seededRandom(2), 96 * 384) }],
  ]);
  const outputsOn = async (threads: number) => {
    const session = await Session.open(join(folder, 'model.onnx'), 'model', 'all', threads);
    try {
      return (await session.run(feeds)).get('y');
    } finally {
      await session.release();
    }
  };

  expect(await outputsOn(4)).toEqual(await outputsOn(1));
});
