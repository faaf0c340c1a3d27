import { statfsSync } from 'node:fs';

/** The room of a disk, which is asked for before it is used. Without promises, as an environment's pack is unpacked. */
export class DiskRoom {
  readonly #folder: string;
  readonly #free: (folder: string) => number;
  #left = 0;
  #untilAsked = 0;

  constructor(folder: string, free = freeBytes) {
    this.#folder = folder;
    this.#free = free;
  }

  /** Check that so many bytes fit. @param what what has them, for the message. @throws DiskRoomError */
  require(bytes: number, what: string): void {
    if (bytes <= this.#left && bytes <= this.#untilAsked) return;
    this.#left = this.#free(this.#folder);
    this.#untilAsked = askAgainBytes;
    if (bytes <= this.#left) return;
    const free = Math.floor(this.#left);
    throw new DiskRoomError(`${what} needs ${bytes} bytes, but the disk has ${free} free`);
  }

  /** Note that so many bytes were written. */
  use(bytes: number): void {
    this.#left -= bytes;
    this.#untilAsked -= bytes;
  }
}

/** Bytes that may be written to the disk of a folder. */
export function freeBytes(folder: string): number {
  const { bavail, blocks, bsize } = statfsSync(folder);
  const reserve = Math.min(blocks * bsize * reserveShare, maxReserveBytes);
  return Math.max(0, bavail * bsize - reserve);
}

/** Reserve that stays free for others: a twentieth of the disk, 1 GiB at most. */
const reserveShare = 1 / 20;
const maxReserveBytes = 2 ** 30;
/** After so many bytes the disk is asked again: others write to it as well. */
const askAgainBytes = 2 ** 28;

/**
 * The disk of this machine is too small for the unpacked or downloaded files. The message says how much is needed and
 * free.
 */
export class DiskRoomError extends Error {
  override readonly name = 'DiskRoomError';
}
