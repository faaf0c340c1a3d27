import { buffer } from 'node:stream/consumers';
import type { ObjectReader } from '../../../shared/aws/objects.ts';
import type { ModelFile } from '../../../shared/data/models/model-file.ts';
import { ModelError } from '../../../shared/onnx/model/model-error.ts';

/**
 * Refuse a file that does not begin like an object of JSON. The process of the model reads the whole of it, apart from this service.
 * @throws ModelError
 */
export async function requireJson(
  objects: ObjectReader,
  { name, object }: Pick<ModelFile, 'name' | 'object'>,
): Promise<void> {
  const stream = await objects.read(object, { first: 0, last: 63 });
  const start = stream === undefined ? '' : (await buffer(stream)).toString('latin1').trimStart();
  const wanted = name === 'modules.json' ? '[' : '{';
  if (!start.startsWith(wanted))
    throw new ModelError(`${name} is not JSON: it does not begin with ${wanted}.`);
}
