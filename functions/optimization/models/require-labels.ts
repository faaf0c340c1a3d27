import { buffer } from 'node:stream/consumers';
import type { ObjectReader } from '../../../shared/aws/objects.ts';
import type { ModelFile } from '../../../shared/data/models/model-file.ts';
import { ModelError } from '../../../shared/onnx/model/model-error.ts';

/** Check the names of a model's classes. @throws ModelError if they are not text in UTF-8 */
export async function requireLabels(
  objects: Pick<ObjectReader, 'read'>,
  { name, object }: Pick<ModelFile, 'name' | 'object'>,
): Promise<void> {
  const source = await objects.read(object);
  const bytes = source === undefined ? new Uint8Array() : await buffer(source);
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new ModelError(`${name} must be text in UTF-8 with the name of one class a line.`);
  }
}
