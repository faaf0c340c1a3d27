import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { RandomAccessReader } from 'yauzl';

/**
 * Give a zip library the bytes of a file, and an error if an offset in the archive points outside of it. The
 * library's own reader passes such offsets to the system unchecked, and the resulting exception escapes every
 * handler.
 */
export class ZipFileReader extends RandomAccessReader {
  readonly #file: FileHandle;
  readonly #bytes: number;

  constructor(file: FileHandle, bytes: number) {
    super();
    this.#file = file;
    this.#bytes = bytes;
  }

  override _readStreamForRange(start: number, end: number): Readable {
    // Use a generator instead of a file stream: the library destroys the stream, which would close the file.
    return Readable.from(this.#chunks(start, end), { objectMode: false });
  }

  override read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
    callback: (error: Error | null) => void,
  ): void {
    if (position + length > this.#bytes) {
      setImmediate(callback, new Error('it refers to an offset beyond its end'));
      return;
    }
    this.#file
      .read(buffer, offset, length, position)
      .then(
        ({ bytesRead }) => callback(bytesRead < length ? new Error('unexpected end of the file') : null),
        callback,
      );
  }

  async *#chunks(start: number, end: number): AsyncGenerator<Buffer, void, undefined> {
    for (let position = start; position < end; ) {
      const length = Math.min(chunkBytes, end - position);
      const { bytesRead, buffer } = await this.#file.read({ buffer: Buffer.alloc(length), position });
      if (bytesRead === 0) throw new Error('unexpected end of the file');
      yield buffer.subarray(0, bytesRead);
      position += bytesRead;
    }
  }
}

const chunkBytes = 64 * 1024;
