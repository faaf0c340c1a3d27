import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';

/** Open the first `size` bytes of a file: its program may append at this moment. */
export const openLocal = (path: string, size: number): Readable =>
  size === 0 ? Readable.from([]) : createReadStream(path, { end: size - 1 });
