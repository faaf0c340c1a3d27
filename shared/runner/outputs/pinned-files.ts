import type { BigIntStats } from 'node:fs';
import { type FileHandle, lstat } from 'node:fs/promises';
import { join } from 'node:path';

/** A new or changed file, kept open until it is known to be complete. */
export interface PinnedFile {
  path: string;
  handle: FileHandle;
  found: BigIntStats;
}

/** Maximum number of open files. The others follow in a later pass. */
const maxPinned = 500;

/** Margin for the kernel's file clock: twice its largest lag, which is one tick of at most 10 ms. */
const clockMarginMs = 20n;

/**
 * Files kept open between two passes. Checks the open file and not its path, because the next file may have
 * replaced it. So a checkpoint that is replaced ten times a second is found complete and read unchanged.
 */
export class PinnedFiles {
  readonly #since = BigInt(Date.now());
  readonly #files: PinnedFile[] = [];

  get size(): number {
    return this.#files.length;
  }

  get isFull(): boolean {
    return this.#files.length >= maxPinned;
  }

  /** Whether a file changed during the pinning. A walk may have missed earlier writes. */
  get isTorn(): boolean {
    return this.#files.some(({ found }) => ctimeMs(found) + clockMarginMs >= this.#since);
  }

  async pin(path: string, handle: FileHandle): Promise<void> {
    try {
      this.#files.push({ path, handle, found: await handle.stat({ bigint: true }) });
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /**
   * Remove and return the complete files, in the order of their writes: files that no process has written to since
   * they were pinned, or can write to now. `writable` has the inodes that the command's processes can write to, as
   * far as visible. Skip renamed and removed files. The caller closes the handles. Files that were written to in
   * between stay, pinned again, if `isAgain` is true for their paths.
   */
  async takeComplete(
    folder: string,
    writable: ReadonlySet<bigint>,
    isAgain: (path: string) => boolean,
  ): Promise<PinnedFile[]> {
    const complete: PinnedFile[] = [];
    for (const pinned of this.#files.splice(0)) {
      const state = await stateOf(pinned, writable);
      if (state === 'complete' && (await exists(join(folder, pinned.path)))) complete.push(pinned);
      else if (state === 'written' && isAgain(pinned.path)) await this.pin(pinned.path, pinned.handle);
      else await pinned.handle.close();
    }
    return complete.sort((a, b) => Number(a.found.ctimeNs - b.found.ctimeNs));
  }

  async close(): Promise<void> {
    for (const { handle } of this.#files.splice(0)) await handle.close();
  }
}

const ctimeMs = ({ ctimeNs }: BigIntStats): bigint => ctimeNs / 1_000_000n;

/**
 * Milliseconds without a write after which a file that a program keeps open (a log, a database) counts as
 * complete.
 */
const heldOpenMs = 60_000n;

/** Return whether a pinned file was written to, is open for writing, or is complete. */
async function stateOf(
  { handle, found }: PinnedFile,
  writable: ReadonlySet<bigint>,
): Promise<'written' | 'open' | 'complete'> {
  const now = await handle.stat({ bigint: true });
  // The ctime also changes with renames and with the removal of a name, which leave the bytes unchanged.
  if (now.size !== found.size || now.mtimeNs !== found.mtimeNs) return 'written';
  const isOpen = writable.has(now.ino) && BigInt(Date.now()) - ctimeMs(now) < heldOpenMs;
  return isOpen ? 'open' : 'complete';
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
