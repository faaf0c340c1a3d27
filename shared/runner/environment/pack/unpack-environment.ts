import {
  chmodSync,
  closeSync,
  constants,
  createReadStream,
  fchmodSync,
  futimesSync,
  mkdirSync,
  openSync,
  symlinkSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createZstdDecompress } from 'node:zlib';
import { DiskRoom, DiskRoomError } from '../../../archive/disk-room.ts';
import { EnvironmentError } from '../environment-error.ts';
import { linkFault } from './link-fault.ts';
import type { SealedSize } from './seal-environment.ts';
import { readTar, type TarEntry, type TarSink } from './tar-reader.ts';

export interface UnpackOptions {
  /** Absolute link targets that are legitimate. */
  interpreters: readonly string[];
  stop: AbortSignal;
  /** Default 500,000. */
  maxEntries?: number;
  /** Unpacked size; default 40 GB. */
  maxBytes?: number;
  /** Of the disk of the folder. */
  room?: DiskRoom;
}

const chunkBytes = 1024 * 1024;

/**
 * Unpacks a `.tar.zst` of an environment into `folder`, which must not exist yet.
 * The pack is the service's own, but what it holds was made by other people's code: entries that leave the folder, pass
 * through a link, come twice, are devices or hard links, carry setuid bits or exceed the limits are refused, and then
 * the caller removes what was written. Files become root's (or the service's), read-only;
 * modes are set apart from making things, so that the umask does not count.
 * Writes are synchronous, as 11,000 small files cost four times as much through the thread pool; decompression runs
 * beside them.
 * @throws EnvironmentError `pack-refused`, or `disk-full` before the disk is
 */
export async function unpackEnvironment(
  file: string,
  folder: string,
  options: UnpackOptions,
): Promise<SealedSize> {
  mkdirSync(folder);
  chmodSync(folder, 0o755);
  const sink = new EnvironmentWriter(folder, options);
  try {
    await pipeline(
      createReadStream(file, { highWaterMark: chunkBytes }),
      createZstdDecompress({ chunkSize: chunkBytes }),
      (chunks: AsyncIterable<Buffer>) => readTar(chunks, sink),
      { signal: options.stop },
    );
    return sink.size;
  } catch (error) {
    if (error instanceof DiskRoomError) throw tooLarge(error);
    // What zlib says of bytes that are not zstd.
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (code.startsWith('ZSTD_') || code === 'Z_BUF_ERROR') throw refused('it is damaged', error);
    throw error;
  } finally {
    sink.close();
  }
}

class EnvironmentWriter implements TarSink {
  readonly #folder: string;
  readonly #options: UnpackOptions;
  readonly #room: DiskRoom;
  readonly #folders = new Set<string>();
  readonly #seen = new Set<string>();
  #bytes = 0;
  #mtime = new Date(0);
  #file: number | null = null;

  constructor(folder: string, options: UnpackOptions) {
    this.#folder = folder;
    this.#options = options;
    this.#room = options.room ?? new DiskRoom(folder);
  }

  begin(entry: TarEntry): void {
    const { maxEntries = 500_000, maxBytes = 40 * 1024 ** 3, interpreters } = this.#options;
    const path = entry.path.replace(/\/$/, '');
    const refuse = (why: string) => refused(`${JSON.stringify(path.slice(0, 200))} ${why}`);
    const segments = path.split('/');
    if (segments.some((part) => part === '' || part === '.' || part === '..') || path.includes('\0')) {
      throw refuse('is not a path inside it');
    }
    if (this.#seen.has(path)) throw refuse('comes twice');
    this.#seen.add(path);
    // Only folders that an entry made are in the set, so that nothing is ever written through a link.
    if (segments.length > 1 && !this.#folders.has(dirname(path))) throw refuse('has no folder');
    if (entry.type !== 'SymbolicLink' && (entry.mode & 0o7000) !== 0)
      throw refuse('has setuid, setgid or sticky bits');
    if (entry.type !== 'File' && entry.size > 0) throw refuse('has content without being a file');
    this.#bytes += entry.size;
    if (this.#seen.size > maxEntries) throw refused(`it has more than ${maxEntries} entries`);
    if (this.#bytes > maxBytes) throw refused(`it unpacks to more than ${maxBytes} bytes`);

    this.#room.require(entry.size, `file ${JSON.stringify(path)}`);

    const to = join(this.#folder, path);
    if (entry.type === 'Directory') {
      mkdirSync(to);
      chmodSync(to, 0o755);
      this.#folders.add(path);
    } else if (entry.type === 'SymbolicLink') {
      const fault = linkFault(path, entry.linkpath, interpreters);
      if (fault !== null) throw refuse(`is a link that ${fault}`);
      symlinkSync(entry.linkpath, to);
    } else if (entry.type === 'File') {
      const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
      this.#file = openSync(to, flags, 0o600);
      fchmodSync(this.#file, entry.mode & 0o111 ? 0o555 : 0o444);
      this.#mtime = entry.mtime;
    } else throw refuse(`is a ${entry.type}`);
  }

  data(piece: Buffer): void {
    if (this.#file === null) return;
    this.#room.require(piece.length, 'the rest of it');
    this.#room.use(piece.length);
    for (let at = 0; at < piece.length; ) at += writeSync(this.#file, piece, at);
  }

  end(): void {
    if (this.#file !== null) futimesSync(this.#file, this.#mtime, this.#mtime);
    this.close();
  }

  close(): void {
    if (this.#file !== null) closeSync(this.#file);
    this.#file = null;
  }

  get size(): SealedSize {
    return { entries: this.#seen.size, bytes: this.#bytes };
  }
}

function tooLarge(cause: DiskRoomError): EnvironmentError {
  const message = `The packed environment does not fit on the disk: ${cause.message}.`;
  return new EnvironmentError('disk-full', message, cause);
}

function refused(why: string, cause?: unknown): EnvironmentError {
  return new EnvironmentError('pack-refused', `The packed environment cannot be used: ${why}.`, cause);
}
