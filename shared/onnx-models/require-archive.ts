import { buffer } from 'node:stream/consumers';
import type { ObjectReader } from '../aws/objects.ts';
import { ModelError } from '../onnx/model/model-error.ts';

/** Refuse a file that does not begin like an npz archive (a zip archive of arrays). @throws ModelError */
export async function requireArchive(objects: ObjectReader, name: string, object: string): Promise<void> {
  const stream = await objects.read(object, { first: 0, last: 3 });
  const start = stream === undefined ? '' : (await buffer(stream)).toString('latin1');
  if (start !== 'PK\x03\x04') throw new ModelError(`${name} is not an npz archive as numpy.savez writes it.`);
}
