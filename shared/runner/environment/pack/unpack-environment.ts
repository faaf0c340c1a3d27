import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  futimesSync,
  mkdirSync,
  openSync,
  symlinkSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { ArchiveError } from '../../../archive/archive-error.ts';
import { DiskRoom, DiskRoomError } from '../../../archive/disk-room.ts';
import { type TarHeader, type TarPart, TarReader } from '../../../archive/tar-reader.ts';
import { EnvironmentError } from '../environment-error.ts';
import { linkFault, type SealedSize } from './seal-environment.ts';
import { decompressFrames } from './zstd-frames.ts';

export interface UnpackOptions {
  /** Allowed absolute link targets. */
  interpreters: readonly string[];
  stop: AbortSignal;
  /** Default 500,000. */
  maxEntries?: number;
  /** Maximum unpacked bytes; default 40 GB. */
  maxBytes?: number;
  /** Free space of the folder's disk. */
  room?: DiskRoom;
}

/**
 * Unpack a `.tar.zst` of an environment into `folder`, which must not exist yet. The service made the pack, but
 * its contents come from other people's code. Refuse entries that leave the folder, pass through a link, come
 * twice, are devices or hard links, have setuid bits or exceed the limits; the caller then removes the written
 * files. Files belong to root (or the service) and are read-only. Modes are set after the creation, so the umask
 * has no effect. Writes are synchronous, because 11,000 small files take four times as long through the thread
 * pool; decompression runs in parallel.
 * @throws EnvironmentError `pack-refused`, or `disk-full` before the disk is full
 */
export async function unpackEnvironment(
  file: string,
  folder: string,
  options: UnpackOptions,
): Promise<SealedSize> {
  mkdirSync(folder);
  chmodSync(folder, 0o755);
  const writer = new EnvironmentWriter(folder, options);
  const reader = new TarReader(writer.maxBytes);
  try {
    await pipeline(
      decompressFrames(file),
      async (chunks: AsyncIterable<Buffer>) => {
        for await (const chunk of chunks) for (const part of reader.read(chunk)) writer.write(part);
        reader.finish();
      },
      { signal: options.stop },
    );
    return writer.size;
  } catch (error) {
    if (error instanceof DiskRoomError) throw tooLarge(error);
    if (error instanceof ArchiveError) throw refused(error.message, error);
    throw error;
  } finally {
    writer.close();
  }
}

const typeNames: Readonly<Record<string, string>> = {
  '1': 'hard link',
  '3': 'device',
  '4': 'device',
  '6': 'named pipe',
};

class EnvironmentWriter {
  readonly maxBytes: number;
  readonly #maxEntries: number;
  readonly #folder: string;
  readonly #interpreters: readonly string[];
  readonly #room: DiskRoom;
  readonly #folders = new Set<string>();
  readonly #seen = new Set<string>();
  #bytes = 0;
  #mtime = 0;
  #file: number | null = null;

  constructor(folder: string, options: UnpackOptions) {
    this.maxBytes = options.maxBytes ?? 40 * 1024 ** 3;
    this.#maxEntries = options.maxEntries ?? 500_000;
    this.#folder = folder;
    this.#interpreters = options.interpreters;
    this.#room = options.room ?? new DiskRoom(folder);
  }

  write(part: TarPart): void {
    if (part.part === 'entry') this.#begin(part.entry);
    else if (part.part === 'content') this.#append(part.bytes);
    else this.#end();
  }

  #begin(entry: TarHeader): void {
    const path = entry.path.replace(/\/$/, '');
    const refuse = (why: string) => refused(`${JSON.stringify(path.slice(0, 200))} ${why}`);
    const segments = path.split('/');
    if (segments.some((part) => part === '' || part === '.' || part === '..') || path.includes('\0')) {
      throw refuse('is not a path inside it');
    }
    if (this.#seen.has(path)) throw refuse('comes twice');
    this.#seen.add(path);
    // The set contains only folders that an entry created, so nothing is ever written through a link.
    if (segments.length > 1 && !this.#folders.has(dirname(path))) throw refuse('has no folder');
    if (entry.type !== '2' && (entry.mode & 0o7000) !== 0) throw refuse('has setuid, setgid or sticky bits');
    if (entry.type !== '0' && entry.size > 0) throw refuse('has content without being a file');
    this.#bytes += entry.size;
    if (this.#seen.size > this.#maxEntries) throw refused(`it has more than ${this.#maxEntries} entries`);
    if (this.#bytes > this.maxBytes) throw refused(`it unpacks to more than ${this.maxBytes} bytes`);

    this.#room.require(entry.size, `file ${JSON.stringify(path)}`);

    const to = join(this.#folder, path);
    if (entry.type === '5') {
      mkdirSync(to);
      chmodSync(to, 0o755);
      this.#folders.add(path);
    } else if (entry.type === '2') {
      const fault = linkFault(path, entry.linkpath, this.#interpreters);
      if (fault !== null) throw refuse(`is a link that ${fault}`);
      symlinkSync(entry.linkpath, to);
    } else if (entry.type === '0') {
      const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
      this.#file = openSync(to, flags, 0o600);
      fchmodSync(this.#file, entry.mode & 0o111 ? 0o555 : 0o444);
      this.#mtime = entry.mtime;
    } else throw refuse(`is a ${typeNames[entry.type] ?? `entry of type ${JSON.stringify(entry.type)}`}`);
  }

  #append(piece: Buffer): void {
    if (this.#file === null) return;
    this.#room.require(piece.length, 'the rest of it');
    this.#room.use(piece.length);
    for (let at = 0; at < piece.length; ) at += writeSync(this.#file, piece, at);
  }

  #end(): void {
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

function refused(why: string, cause?: unknown): EnvironmentError {
  return new EnvironmentError('pack-refused', `The packed environment cannot be used: ${why}.`, cause);
}

function tooLarge(cause: DiskRoomError): EnvironmentError {
  const message = `The packed environment does not fit on the disk: ${cause.message}.`;
  return new EnvironmentError('disk-full', message, cause);
}
