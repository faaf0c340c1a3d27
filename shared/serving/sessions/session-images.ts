import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ImageSettings } from '../../data/models/image-settings.ts';
import { answerImages, type ImageModel } from '../images/answer-images.ts';
import { type RawTensor, unpackBytes } from '../protocol/datatypes.ts';
import { labelsOf } from '../protocol/model-config.ts';

let labels: Promise<readonly string[]> | undefined;

/**
 * Answer files of pictures with the model of a folder. Native code decodes what a stranger sent, so this runs only in the process
 * of the model.
 */
export async function answerFiles(
  folder: string,
  files: Uint8Array,
  settings: ImageSettings,
  run: ImageModel['run'],
): Promise<RawTensor[]> {
  labels ??= readFile(join(folder, 'config.json'), 'utf8').then(labelsOf, () => []);
  return answerImages({ settings, run, labels: await labels }, unpackBytes(files) ?? []);
}
