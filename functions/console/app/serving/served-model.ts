import { pictureValues, takesPictures } from '../../../../shared/serving/protocol/picture-values.ts';
import type { Compression } from '../api/models.ts';
import type { ServedMetadata, ServedTensor } from '../api/serving.ts';

export type ServedCompression = Pick<Compression, 'operation' | 'strategy_id'>;

/** Return the compression whose result answers. */
export function compressionOf({
  parameters: { strategy, receipt },
}: Pick<ServedMetadata, 'parameters'>): ServedCompression | undefined {
  if (strategy === null || receipt === null) return undefined;
  return { operation: receipt.includes('/prune/') ? 'prune' : 'quantize', strategy_id: strategy };
}

const maxElements = 200_000;

/** A request with zeros for each input; free dimensions are 1. */
export const exampleRequest = ({ inputs }: Pick<ServedMetadata, 'inputs'>): object => ({
  inputs: inputs.map(({ name, datatype, shape }) => {
    const dims = shape.map((dim) => (dim < 0 ? 1 : dim));
    const count = Math.min(
      maxElements,
      dims.reduce((product, dim) => product * dim, 1),
    );
    const value = datatype === 'BYTES' ? '' : datatype === 'BOOL' ? false : 0;
    return { name, datatype, shape: dims, data: Array.from({ length: count }, () => value) };
  }),
});

/** Find the input that takes pictures. */
export const pictureInput = ({ inputs }: Pick<ServedMetadata, 'inputs'>): ServedTensor | undefined =>
  inputs.find(takesPictures);

/** A request with the file of a picture, for a model with its image processor. */
export async function imageRequest(file: Blob): Promise<object> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  return { images: [bytes.toBase64()] };
}

/** Read a picture as the values of an input. */
export async function readPicture(
  file: Blob,
  input: ServedTensor,
): Promise<{ shape: number[]; data: number[] } | undefined> {
  const bitmap = await createImageBitmap(file);
  const { width, height } = bitmap;
  const context = new OffscreenCanvas(width, height).getContext('2d');
  if (context === null) throw new Error('This browser cannot read pictures.');
  context.drawImage(bitmap, 0, 0);
  return pictureValues(context.getImageData(0, 0, width, height), input);
}
