import { buffer } from 'node:stream/consumers';
import type { ObjectReader } from '../aws/objects.ts';
import { ModelError } from '../onnx/model/model-error.ts';

/** An object in the bucket, read by ranged requests. A read throws a `ModelError` if the object was deleted. */
export function objectSource(objects: Pick<ObjectReader, 'read'>, key: string, size: number): RangedSource {
  return {
    size,
    async read(offset, length) {
      if (length === 0) return new Uint8Array();
      const stream = await objects.read(key, { first: offset, last: offset + length - 1 });
      if (stream === undefined) throw new ModelError('The file was deleted while it was read.');
      return buffer(stream);
    },
  };
}

/** A source of bytes for ranged reads. */
export interface RangedSource {
  size: number;
  /** Return exactly the requested bytes. */
  read(offset: number, length: number): Promise<Uint8Array>;
}
