import { createHash, type Hash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { versionOf } from '../find-files.ts';

/** A file to be read. The handle stays the caller's to close. */
export interface OpenFile {
  handle: FileHandle;
  /**
   * Its state when it was found complete. The file may change again before it is stored, because a paused write looks
   * complete.
   */
  found?: BigIntStats;
}

const readBytes = 1024 * 1024;

/** The bytes of a file as it is at one moment. */
export class FileBytes {
  readonly size: number;
  readonly version: string;
  readonly #handle: FileHandle;
  readonly #found: BigIntStats;

  private constructor(handle: FileHandle, found: BigIntStats) {
    this.#handle = handle;
    this.#found = found;
    this.size = Number(found.size);
    this.version = versionOf(found);
  }

  /** The bytes of an open file in the state in which it was found, else in its current state. */
  static async of({ handle, found }: OpenFile): Promise<FileBytes> {
    return new FileBytes(handle, found ?? (await handle.stat({ bigint: true })));
  }

  /**
   * A stream of the bytes, and their SHA-256 in hexadecimal once all have passed. The stream fails with
   * {@link FileChangedError} before its end when the file is no longer what it was.
   */
  read(): { stream: Readable; digest(): string } {
    const hash = createHash('sha256');
    return {
      stream: Readable.from(this.#pass(hash), { objectMode: false, highWaterMark: 1 }),
      digest: () => hash.digest('hex'),
    };
  }

  /** The SHA-256 alone. @throws FileChangedError */
  async hash(): Promise<string> {
    const hash = createHash('sha256');
    for await (const _ of this.#pass(hash)) {
      // The hash is taken in passing.
    }
    return hash.digest('hex');
  }

  async *#pass(hash: Hash): AsyncGenerator<Buffer> {
    for (let offset = 0; offset < this.size; ) {
      const length = Math.min(readBytes, this.size - offset);
      const { bytesRead, buffer } = await this.#handle.read(Buffer.allocUnsafe(length), 0, length, offset);
      if (bytesRead === 0) throw new FileChangedError('the file became shorter while it was read');
      offset += bytesRead;
      const bytes = buffer.subarray(0, bytesRead);
      hash.update(bytes);
      yield bytes;
    }
    if (mayDiffer(this.#found, await this.#handle.stat({ bigint: true })))
      throw new FileChangedError('the file changed while it was read');
  }
}

/** A file was changed while it was read. */
export class FileChangedError extends Error {
  override readonly name = 'FileChangedError';
}

/**
 * Whether an open file may hold other bytes than before. That it lost its name, because another was moved into its
 * place, changes its ctime and not its bytes.
 */
function mayDiffer(before: BigIntStats, now: BigIntStats): boolean {
  if (now.size !== before.size || now.mtimeNs !== before.mtimeNs) return true;
  return now.ctimeNs !== before.ctimeNs && now.nlink === before.nlink;
}
