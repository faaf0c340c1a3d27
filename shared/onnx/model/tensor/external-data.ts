import { closeSync, constants, fstatSync, openSync, readSync, realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path';
import { ModelError } from '../model-error.ts';

/** Bytes for reading in parts, so no tensor of a file has to be in memory as a whole. */
export interface ByteSource {
  readonly byteLength: number;
  /** All bytes, if they are in memory already. Do not write to them. */
  readonly whole?: Uint8Array;
  /** Fill `into` with the bytes starting at `from`. */
  read(into: Uint8Array, from: number): void;
}

/** The external data files of a model. Never opens a file outside the model's folder. */
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
      throw refused('must be a file in the folder of the model');
    const path = join(this.#folder, location);
    if (!isInside(relative(this.#folder, path))) throw refused('must not leave the folder of the model');
    let fd: number;
    try {
      const folder = realpathSync(dirname(path));
      if (!isInside(relative(realpathSync(this.#folder), folder) || '.'))
        throw refused('must not leave the folder of the model');
      // Refuse links and pipes. A model needs neither.
      fd = openSync(
        join(folder, basename(path)),
        constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
      );
    } catch (error) {
      if (error instanceof ModelError) throw error;
      throw refused('cannot be opened; it belongs beside the model');
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

  /** Return the `length` bytes at `offset`. Checks the range now, so a wrong model is refused early. */
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
          throw new ModelError(
            `The external data ${JSON.stringify(location)} became shorter while it was read.`,
          );
        done += count;
      }
    };
    return { byteLength: length, read };
  }

  /** Names of the opened files. */
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

/** Return the bytes of an array as a source. */
export function sourceOf({ buffer, byteOffset, byteLength }: ArrayBufferView): ByteSource {
  const whole = new Uint8Array(buffer, byteOffset, byteLength);
  return { byteLength, whole, read: (into, from) => into.set(whole.subarray(from, from + into.length)) };
}
