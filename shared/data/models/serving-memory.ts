import type { ImageSettings } from './image-settings.ts';
import type { ServedVersion, Serving } from './serving.ts';

const mebibyte = 2 ** 20;

/** MiB of Node and ONNX Runtime in the process of a session, with the address space of its libraries. */
const processMebibytes = 160;

/** Bytes in memory for each byte of a model: its file while it is read, its weights, and copies that kernels pack. */
const timesBytes = 2.2;

/** MiB of short texts on their way through a model, and of the tokenizer's code. */
const textMebibytes = 192;

/**
 * MiB that the longest text takes: attention takes memory by the square of its length. 16 heads of 2,048 tokens took 1,046 MiB in
 * the first run and 1,677 MiB in the second.
 */
const attentionMebibytes = (tokens: number): number => Math.ceil(1_728 * (tokens / 2_048) ** 2);

/** MiB of the picture codec, and of the largest picture in it. */
const imageMebibytes = 384;

/** Pixels that a sender may have a model read which has no size of its own: it is given memory for them. */
export const maxChosenPixels = 2 ** 20;

/** Bytes that a convolutional network takes for each pixel that it reads: four outputs of 64 channels at half the size. */
const bytesPerPixel = 256;

function pictureMebibytes({ crop, resize }: ImageSettings): number {
  const stated = crop ?? (resize !== null && 'height' in resize ? resize : undefined);
  const pixels = stated === undefined ? maxChosenPixels : stated.height * stated.width;
  return imageMebibytes + Math.ceil((pixels * bytesPerPixel) / mebibyte);
}

/** Bytes in memory for each byte of `tokenizer.json`: the tree of a Unigram vocabulary takes most, 29. */
const timesTokenizer = 32;

/** Estimate the MiB that the process of a version takes. */
export const versionMemory = ({ bytes, files, texts, images }: Sized): number => {
  const tokenizer = texts === null ? undefined : files.find(({ name }) => name === 'tokenizer.json');
  if (tokenizer === undefined)
    return estimatedMemory(bytes) + (images === null ? 0 : pictureMebibytes(images));
  const reading = textMebibytes + attentionMebibytes(texts?.max_tokens ?? 0);
  return estimatedMemory(bytes) + reading + Math.ceil((timesTokenizer * tokenizer.size) / mebibyte);
};

type Sized = Pick<ServedVersion, 'bytes' | 'files' | 'texts' | 'images'>;

/** Estimate the MiB that the process of a model of so many bytes takes. */
export const estimatedMemory = (bytes: number): number =>
  Math.ceil(processMebibytes + (timesBytes * bytes) / mebibyte);

/** MiB that the function itself takes, beside the processes of sessions. */
export const functionMemory = 192;

/** Return the bytes that the process of a version may take. */
export const servingBytes = ({ memory }: Pick<Serving, 'memory'>, version: Sized): number =>
  (memory ?? versionMemory(version)) * mebibyte;
