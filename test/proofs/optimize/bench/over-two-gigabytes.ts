import { mkdirSync, statfsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { saveModel } from '../../../../shared/onnx/model/file/save-model.ts';
import { type Figure, figure } from '../../bench/figure.ts';
import { transformBytes } from './architecture.ts';
import { largeModel, largeModelBytes, largestTensorBytes } from './large-model.ts';
import type { Workbench } from './workbench.ts';

const mb = 1e6;
/** Of a weight of uniformly distributed values in blocks of 4 bits. */
const maxLayerError = 0.15;

const filesIn = (folder: string, names: readonly string[]): number =>
  names.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);

/** A model of 2.5 GB with external data, to 4 bits: transformed, and checked layer by layer. */
export async function measureLargeModel(bench: Workbench): Promise<Figure[]> {
  const folder = bench.folder();
  const { bavail, bsize } = statfsSync(folder);
  const needed = 1.5 * largeModelBytes;
  if (bavail * bsize < needed) {
    throw new Error(
      `it takes ${Math.round(needed / mb)} MB of disk; there are ${Math.round((bavail * bsize) / mb)}`,
    );
  }
  bench.say('writing the model…');
  const files = saveModel(largeModel(), folder);
  const model = join(folder, files[0] ?? '');
  const made = await bench.make(model, { operation: 'quantize', strategy: 'weight_only', precision: 4 });
  const work = join(bench.folder(), 'work');
  mkdirSync(work);
  const layers = made.transform.answer.layers.map(({ layer }) => layer);
  const check = await bench.stage<'check'>({
    kind: 'check',
    before: model,
    after: made.path,
    seed: 0,
    layers,
    work,
  });
  const errors = check.answer.layers.map(({ relative_l2_error: error }) => error ?? Number.POSITIVE_INFINITY);
  return [
    figure('the model', filesIn(folder, files) / mb, 'MB', { atLeast: 2500 }),
    figure('4-bit weight only: size', filesIn(dirname(made.path), made.transform.answer.files) / mb, 'MB'),
    figure('4-bit weight only: time', made.transform.seconds, 's', {
      remark: 'prototype 16.8 s for 2,420 MB',
    }),
    figure('4-bit weight only: peak of transforming', made.transform.peakMemoryBytes / mb, 'MB', {
      atMost: transformBytes(largestTensorBytes, 0) / mb,
    }),
    figure(`largest error of ${errors.length} layers run alone`, Math.max(...errors), '', {
      atMost: maxLayerError,
    }),
  ];
}
