import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { hasCode } from '../../host/has-code.ts';

/** A change of a file: new bytes, or a restart from its beginning. */
type Growth = { bytes: Buffer } | 'restarted';

const readBytes = 64 * 1024;

/**
 * Reads a file as it grows. A hostile user may create, truncate, replace or remove it at any time. It stays open
 * between reads, so the rest of a replaced file is read and no other file can get its inode.
 */
export class GrowingFile {
  readonly #path: string;
  readonly #user: { uid: number } | undefined;
  #handle: FileHandle | undefined;
  #offset = 0;

  constructor(path: string, user: { uid: number } | undefined) {
    this.#path = path;
    this.#user = user;
  }

  /** Yield the changes since the last call. @throws FileRefusedError if the path is not a readable file */
  async *read(): AsyncGenerator<Growth> {
    yield* this.#readHandle();
    const next = await this.#openAnew();
    if (next === undefined) return;
    await this.close();
    this.#handle = next;
    this.#offset = 0;
    yield 'restarted';
    yield* this.#readHandle();
  }

  async close(): Promise<void> {
    await this.#handle?.close();
    this.#handle = undefined;
  }

  async *#readHandle(): AsyncGenerator<Growth> {
    if (this.#handle === undefined) return;
    const { size } = await this.#handle.stat();
    if (size < this.#offset) {
      this.#offset = 0;
      yield 'restarted';
    }
    // Stop at the size at the start. A writer that never pauses must not keep this loop running.
    while (this.#offset < size) {
      const length = Math.min(readBytes, size - this.#offset);
      const { bytesRead, buffer } = await this.#handle.read(
        Buffer.allocUnsafe(length),
        0,
        length,
        this.#offset,
      );
      if (bytesRead === 0) return;
      this.#offset += bytesRead;
      yield { bytes: buffer.subarray(0, bytesRead) };
    }
  }

  /** Open the path's file if it differs from the open one. */
  async #openAnew(): Promise<FileHandle | undefined> {
    let next: FileHandle;
    try {
      next = await openOwned(this.#path, this.#user);
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return undefined;
      throw error;
    }
    const [found, present] = await Promise.all([next.stat(), this.#handle?.stat()]);
    if (found.ino !== present?.ino || found.dev !== present.dev) return next;
    await next.close();
    return undefined;
  }
}

/** Open a regular file of this user without following links or blocking. @throws FileRefusedError */
export async function openOwned(path: string, user: { uid: number } | undefined): Promise<FileHandle> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const handle = await open(path, flags).catch((error: unknown) => {
    throw refusalOf(error) ?? error;
  });
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) throw new FileRefusedError('it is not a regular file');
    if (user !== undefined && stats.uid !== user.uid)
      throw new FileRefusedError('it belongs to another user');
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** The refusal for a system error; undefined for other errors. */
export function refusalOf(error: unknown): FileRefusedError | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ELOOP' || code === 'EMLINK') return new FileRefusedError('it is a link');
  if (code === 'ENXIO' || code === 'ENODEV') return new FileRefusedError('it is not a regular file');
  if (code === 'EACCES' || code === 'EPERM') return new FileRefusedError('it cannot be read');
  return undefined;
}

/** The file must not be read. The message has the reason. */
export class FileRefusedError extends Error {
  override readonly name = 'FileRefusedError';
}
