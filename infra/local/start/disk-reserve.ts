import { randomBytes } from 'node:crypto';
import { open, rm, stat } from 'node:fs/promises';
import { freeBytes, keptBytes } from '../free-room.ts';

/**
 * A file in the data folder that reserves disk space. When the disk is full, the service removes the file. This
 * frees space for the few writes of deletes, cancels, ends of jobs and a restart. While the file is gone, the
 * service refuses requests that add to the disk.
 */
export class DiskReserve {
  readonly #file: string;
  readonly #folder: string;
  #isHeld = false;
  #isFull = false;

  constructor(folder: string, file: string) {
    this.#folder = folder;
    this.#file = file;
  }

  /** Whether the disk is full. The remaining space is kept for deletes. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** Release the reserve if the disk is nearly full. Take it again when there is room for three times its size. */
  async check(): Promise<void> {
    const kept = await keptBytes(this.#folder);
    const free = await freeBytes(this.#folder);
    this.#isHeld = await stat(this.#file).then(
      ({ size }) => size >= kept,
      () => false,
    );
    if (this.#isHeld && free < kept / 4) await this.#release();
    else if (!this.#isHeld && free >= 3 * kept) await this.#take(kept);
    this.#isFull = !this.#isHeld || free < kept / 2;
  }

  /** Check twice a second, until `stop`. */
  watch(): { stop: () => void } {
    const timer = setInterval(() => void this.check().catch(() => undefined), checkMilliseconds);
    timer.unref();
    return { stop: () => clearInterval(timer) };
  }

  async #release(): Promise<void> {
    await rm(this.#file, { force: true });
    this.#isHeld = false;
  }

  /** Write random bytes, because a file system may store zeros without using space. */
  async #take(bytes: number): Promise<void> {
    try {
      await using file = await open(this.#file, 'w', 0o600);
      for (let written = 0; written < bytes; written += pieceBytes)
        await file.write(randomBytes(Math.min(pieceBytes, bytes - written)));
      await file.sync();
      this.#isHeld = true;
    } catch {
      await this.#release();
    }
  }
}

const checkMilliseconds = 500;
const pieceBytes = 1024 * 1024;
