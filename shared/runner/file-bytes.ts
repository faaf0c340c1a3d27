import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { versionOf } from './find-files.ts';

const READ_BYTES = 1024 * 1024;

/** A file was changed while it was read. */
export class FileChanged extends Error {
  override readonly name = 'FileChanged';
}

/** The bytes of a file as it is at one moment, read once. */
export class FileBytes {
  readonly size: number;
  readonly version: string;
  readonly #handle: FileHandle;
  readonly #hash = createHash('sha256');

  private constructor(handle: FileHandle, size: number, version: string) {
    this.#handle = handle;
    this.size = size;
    this.version = version;
  }

  /** The bytes that an open file has now. The handle stays the caller's to close. */
  static async of(handle: FileHandle): Promise<FileBytes> {
    const stats = await handle.stat({ bigint: true });
    return new FileBytes(handle, Number(stats.size), versionOf(stats));
  }

  /** SHA-256 in hexadecimal, once all is read. */
  digest(): string {
    return this.#hash.digest('hex');
  }

  /** The bytes, which are hashed as they pass. Fails with {@link FileChanged} before its end when the file changes. */
  stream(): Readable {
    return Readable.from(this.#read(), { objectMode: false, highWaterMark: 1 });
  }

  /** Reads everything for its hash alone. @throws FileChanged */
  async hash(): Promise<string> {
    for await (const _ of this.#read()) {
      // The hash is taken in passing.
    }
    return this.digest();
  }

  async *#read(): AsyncGenerator<Buffer> {
    for (let offset = 0; offset < this.size; ) {
      const length = Math.min(READ_BYTES, this.size - offset);
      const { bytesRead, buffer } = await this.#handle.read(Buffer.allocUnsafe(length), 0, length, offset);
      if (bytesRead === 0) throw new FileChanged('the file became shorter while it was read');
      offset += bytesRead;
      const bytes = buffer.subarray(0, bytesRead);
      this.#hash.update(bytes);
      yield bytes;
    }
    const now = versionOf(await this.#handle.stat({ bigint: true }));
    if (now !== this.version) throw new FileChanged('the file changed while it was read');
  }
}
