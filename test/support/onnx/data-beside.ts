import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Model } from '../../../shared/onnx/model/file/model.ts';
import { saveModel } from '../../../shared/onnx/model/file/save-model.ts';
import { makeNode } from '../../../shared/onnx/model/graph/graph.ts';
import { ExternalData } from '../../../shared/onnx/model/tensor/external-data.ts';
import { makeTensor } from '../../../shared/onnx/model/tensor/tensor.ts';
import { seededRandom } from '../seeded-random.ts';
import { seededFloats } from './seeded.ts';
import { smallModel } from './small-model.ts';

/** Saves a small model of which one tensor lies in a data file beside it. */
export function saveWithData(folder: string): void {
  const { proto, graph } = smallModel({
    nodes: [makeNode('MatMul', ['x', 'w'], ['y'], { name: 'product' })],
    constants: [makeTensor('w', 'float', [64, 64], seededFloats(seededRandom(1), 64 * 64))],
    inputs: { x: [1, 64] },
    outputs: { y: [1, 64] },
  });
  // Models that were read with external data are saved with them.
  const external = new ExternalData(folder);
  writeFileSync(join(folder, 'mark'), ' ');
  external.range('mark', 0, 1);
  saveModel(new Model(proto, graph, external), folder);
  external.close();
}
