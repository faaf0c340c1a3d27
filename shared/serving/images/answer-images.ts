import type { ImageSettings } from '../../data/models/image-settings.ts';
import { labelTensors, type Numbers, numbersTensor, scoresOf } from '../protocol/answer-tensors.ts';
import type { RawTensor } from '../protocol/datatypes.ts';
import { requireTime } from '../protocol/request-time.ts';
import { decodeImage } from './decode-image.ts';
import { type ImageValues, imageValues } from './image-values.ts';

/** What answers pictures: a model with the settings of its image processor. */
export interface ImageModel {
  settings: ImageSettings;
  labels: readonly string[];
  /** Run the model on one picture. */
  run(image: ImageValues): Promise<Numbers>;
}

/**
 * Answer files of pictures by tensors: `label` and `scores`, or `embedding`. One is decoded at a time, which bounds memory.
 * @throws Error that names the picture
 */
export async function answerImages(model: ImageModel, files: readonly Uint8Array[]): Promise<RawTensor[]> {
  const { settings, labels, run } = model;
  const started = performance.now();
  const rows: Float32Array[] = [];
  for (const [index, file] of files.entries()) {
    requireTime(started, () => `${index} of ${files.length} pictures were answered`);
    const values = await read(file, settings).catch((cause: unknown) => {
      throw new Error(`images[${index}] ${cause instanceof Error ? cause.message : String(cause)}`);
    });
    const numbers = await run(values);
    if (numbers.shape.length !== 2 || numbers.shape[0] !== 1)
      throw new Error(`the output has the shape [${numbers.shape.join(', ')}] for one picture`);
    rows.push(settings.task === 'embedding' ? numbers.values : scoresOf(settings.activation, numbers.values));
  }
  return settings.task === 'embedding' ? [numbersTensor('embedding', rows)] : labelTensors(rows, labels);
}

const read = async (file: Uint8Array, settings: ImageSettings): Promise<ImageValues> =>
  imageValues(await decodeImage(file), settings);
