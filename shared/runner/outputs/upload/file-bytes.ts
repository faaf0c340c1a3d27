import { createHash, type Hash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { versionOf } from '../find-files.ts';

/** A file to read. The caller closes the handle. */
export interface OpenFile {
  handle: FileHandle;
  /**
   * Its state when it was found complete. The file may change again before it is stored, because a paused write looks
   * complete.
   */
  found?: BigIntStats;
}

const readBytes = 1024 * 1024;

/** The bytes of a file in its state at one moment. */
export class FileBytes {
  readonly size: number;
  readonly version: string;
  readonly #handle: FileHandle;
  readonly #found: BigIntStats;

  private constructor(handle: FileHandle, stats: BigIntStats) {
    this.#handle = handle;
    this.#found = stats;
    this.size = Number(stats.size);
    this.version = versionOf(stats);
  }

  /** Return the bytes of an open file in its found state, or else in its current state. */
  static async of({ handle, found }: OpenFile): Promise<FileBytes> {
    return new FileBytes(handle, found ?? (await handle.stat({ bigint: true })));
  }

  /**
   * Return a stream of the bytes, and their SHA-256 in hexadecimal after the stream's end. The stream fails with
   * {@link FileChangedError} before its end if the file has changed.
   */
  read(): { stream: Readable; digest(): string } {
    const hash = createHash('sha256');
    return {
      stream: Readable.from(this.#pass(hash), { objectMode: false, highWaterMark: 1 }),
      digest: () => hash.digest('hex'),
    };
  }

  /** Return only the SHA-256. @throws FileChangedError */
  async hash(): Promise<string> {
    const hash = createHash('sha256');
    for await (const _ of this.#pass(hash)) {
      // Reading updates the hash.
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
 * Whether an open file's bytes may have changed. A file that lost its name, because another was moved into its
 * place, has another ctime but the same bytes.
 */
function mayDiffer(before: BigIntStats, now: BigIntStats): boolean {
  if (now.size !== before.size || now.mtimeNs !== before.mtimeNs) return true;
  return now.ctimeNs !== before.ctimeNs && now.nlink === before.nlink;
}
