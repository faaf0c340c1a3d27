import { readFile } from 'node:fs/promises';
import { errorText } from '../../../shared/core/error-text.ts';
import type { Picture } from '../../../shared/serving/protocol/picture-values.ts';
import { CliError, exitCodes } from '../../cli-error.ts';

/** Read a PNG or JPEG file. @throws CliError if it is another one, or damaged */
export async function readImage(path: string, shown: string): Promise<Picture> {
  const bytes = await readImageFile(path, shown);
  // They lie beside the command, and only this loads them.
  const [{ decode }, { PNG }] = await Promise.all([import('jpeg-js'), import('pngjs')]);
  try {
    return bytes[0] === 0xff ? decode(bytes, { useTArray: true }) : PNG.sync.read(bytes);
  } catch (error) {
    throw new CliError(`--image ${shown} is damaged: ${errorText(error)}`, exitCodes.usage);
  }
}

/** Read the bytes of a PNG or JPEG file. @throws CliError if it is another one */
export async function readImageFile(path: string, shown: string): Promise<Buffer> {
  const bytes = await readFile(path).catch((error: unknown) => {
    throw new CliError(`--image ${shown} cannot be read: ${errorText(error)}`, exitCodes.usage);
  });
  const isPng = bytes.subarray(1, 4).toString('latin1') === 'PNG';
  const isJpeg = bytes[0] === 0xff && bytes[1] === 0xd8;
  if (!isPng && !isJpeg) throw new CliError(`--image ${shown}: must be a PNG or JPEG file.`, exitCodes.usage);
  return bytes;
}
