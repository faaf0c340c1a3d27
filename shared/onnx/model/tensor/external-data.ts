import { closeSync, constants, fstatSync, openSync, readSync, realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path';
import { ModelError } from '../model-error.ts';

/** Bytes that are read in parts, so that no tensor of a file has to lie in memory as a whole. */
export interface ByteSource {
  readonly byteLength: number;
  /** All of them, where they lie in memory anyway. Not to be written to. */
  readonly whole?: Uint8Array;
  /** Fills `into` with the bytes from `from` on. */
  read(into: Uint8Array, from: number): void;
}

/** The files beside a model that hold its large tensors. Nothing outside the model's folder is ever opened. */
export class ExternalData {
  readonly #folder: string;
  readonly #files = new Map<string, { fd: number; size: number }>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  #open(location: string): { fd: number; size: number } {
    const known = this.#files.get(location);
    if (known !== undefined) return known;
    const refused = (fault: string) =>
      new ModelError(`The external data ${JSON.stringify(location)} ${fault}.`);
    if (location === '' || location.includes('\0') || isAbsolute(location))
      throw refused('must be a file beside the model');
    const path = join(this.#folder, location);
    if (!isInside(relative(this.#folder, path))) throw refused('must not leave the folder of the model');
    let fd: number;
    try {
      const folder = realpathSync(dirname(path));
      if (!isInside(relative(realpathSync(this.#folder), folder) || '.'))
        throw refused('must not leave the folder of the model');
      // A link, or a pipe that never ends, is nothing that a model needs.
      fd = openSync(
        join(folder, basename(path)),
        constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
      );
    } catch (error) {
      if (error instanceof ModelError) throw error;
      throw refused('cannot be opened: upload it with the model');
    }
    const stat = fstatSync(fd);
    if (!stat.isFile()) {
      closeSync(fd);
      throw refused('must be a regular file');
    }
    const file = { fd, size: stat.size };
    this.#files.set(location, file);
    return file;
  }

  /** The `length` bytes at `offset`. The range is checked here, so that a model that lies is refused early. */
  range(location: string, offset: number, length: number): ByteSource {
    const { fd, size } = this.#open(location);
    if (!Number.isSafeInteger(offset) || offset < 0 || offset + length > size) {
      throw new ModelError(
        `The external data ${JSON.stringify(location)} has ${size} bytes; the model refers to ${length} at ${offset}.`,
      );
    }
    const read = (into: Uint8Array, from: number): void => {
      for (let done = 0; done < into.length; ) {
        const count = readSync(fd, into, done, Math.min(into.length - done, 2 ** 30), offset + from + done);
        if (count === 0)
          throw new ModelError(`The external data ${JSON.stringify(location)} became shorter.`);
        done += count;
      }
    };
    return { byteLength: length, read };
  }

  /** Names of the files that were opened. */
  get locations(): string[] {
    return [...this.#files.keys()];
  }

  close(): void {
    for (const { fd } of this.#files.values()) closeSync(fd);
    this.#files.clear();
  }
}

const isInside = (path: string): boolean =>
  path !== '..' && !path.startsWith(`..${sep}`) && !isAbsolute(path);

/** The bytes of an array, wherever it begins. */
export function sourceOf({ buffer, byteOffset, byteLength }: ArrayBufferView): ByteSource {
  const whole = new Uint8Array(buffer, byteOffset, byteLength);
  return { byteLength, whole, read: (into, from) => into.set(whole.subarray(from, from + into.length)) };
}
