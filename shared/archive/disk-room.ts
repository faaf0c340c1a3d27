import { statfsSync } from 'node:fs';

/**
 * Free space of a disk, checked before it is used. Synchronous, like the code that unpacks an environment's pack.
 */
export class DiskRoom {
  readonly #folder: string;
  readonly #free: (folder: string) => number;
  #left = 0;
  #untilAsked = 0;

  constructor(folder: string, free = freeBytes) {
    this.#folder = folder;
    this.#free = free;
  }

  /**
   * Check that `bytes` more bytes fit.
   * @param what content of these bytes, for the message
   * @throws DiskRoomError
   */
  require(bytes: number, what: string): void {
    if (bytes <= this.#left && bytes <= this.#untilAsked) return;
    this.#left = this.#free(this.#folder);
    this.#untilAsked = askAgainBytes;
    if (bytes <= this.#left) return;
    const free = Math.floor(this.#left);
    throw new DiskRoomError(`${what} needs ${bytes} bytes, but the disk has ${free} free`);
  }

  /** Record that `bytes` bytes were written. */
  use(bytes: number): void {
    this.#left -= bytes;
    this.#untilAsked -= bytes;
  }
}

/** Bytes that may still be written to the disk of a folder. */
export function freeBytes(folder: string): number {
  const { bavail, blocks, bsize } = statfsSync(folder);
  const reserve = Math.min(blocks * bsize * reserveShare, maxReserveBytes);
  return Math.max(0, bavail * bsize - reserve);
}

/** Share of the disk that stays free for others: a twentieth, 1 GiB at most. */
const reserveShare = 1 / 20;
const maxReserveBytes = 2 ** 30;
/** Check the free space again after this many bytes, because others write to the disk as well. */
const askAgainBytes = 2 ** 28;

/**
 * The disk of this machine is too small for the unpacked or downloaded files. The message states the needed and
 * the free bytes.
 */
export class DiskRoomError extends Error {
  override readonly name = 'DiskRoomError';
}
