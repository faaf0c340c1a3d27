// Writes a model of a known architecture with random weights: node test/proofs/optimize/write-shape.ts <shape> <empty folder>
import { saveModel } from '../../../shared/onnx/model/file/save-model.ts';
import { bert } from './shapes/bert.ts';
import { mobilenetV2 } from './shapes/mobilenet-v2.ts';
import { resnet18 } from './shapes/resnet18.ts';

const shapes = { 'mobilenet-v2': mobilenetV2, resnet18, bert } as const;
const [, , name = '', folder = ''] = process.argv;
const make = Object.entries(shapes).find(([shape]) => shape === name)?.[1];
if (make === undefined || folder === '') {
  process.stderr.write(`write-shape <${Object.keys(shapes).join(' | ')}> <empty folder>\n`);
  process.exit(2);
}
saveModel(make(), folder);
