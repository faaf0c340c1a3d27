import { randomBytes } from 'node:crypto';
import { open, rm, stat } from 'node:fs/promises';
import { freeBytes, keptBytes } from '../free-room.ts';

/**
 * A file of the data folder that takes room until the disk is full. Its removal gives deletes, cancels, the ends of jobs
 * and a restart the few writes that they need; while it is gone, the service takes nothing that adds to the disk.
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

  /** Whether the disk is full: what is left of it is kept for deletes. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** Give the reserve away where the disk is nearly full, and take it again where there is room for three of it. */
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

  /** Random bytes, because a file system may keep zeros without taking room for them. */
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
