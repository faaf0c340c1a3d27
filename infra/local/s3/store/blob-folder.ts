import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, mkdirSync, openSync, readdirSync, renameSync } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { requireRoom } from '../../free-room.ts';
import { BlockSums } from './block-sums.ts';

/**
 * Immutable files. A file is written under `staging/`, and moved to `blobs/` right after the transaction that
 * refers to it. After a crash, a file in `staging/` is moved if a row refers to it, and removed otherwise.
 */
export class BlobFolder {
  readonly #staging: string;
  readonly #blobs: string;
  /** Folders below `blobs/` that are known to exist. */
  readonly #made = new Set<string>();

  constructor(folder: string) {
    this.#staging = join(folder, 'staging');
    this.#blobs = join(folder, 'blobs');
    for (const path of [this.#staging, this.#blobs]) mkdirSync(path, { recursive: true, mode: 0o700 });
    syncFolder(folder);
  }

  /** Move or remove files that an earlier process left in `staging/`. */
  async recover(isReferenced: (id: string) => boolean): Promise<void> {
    for (const id of readdirSync(this.#staging)) {
      if (isReferenced(id)) {
        this.#makePlace(id);
        this.adopt(id);
      } else await rm(join(this.#staging, id), { recursive: true, force: true });
    }
  }

  async stage(): Promise<StagedBlob> {
    await requireRoom(this.#staging);
    const id = randomBytes(16).toString('hex');
    // Do this before anything refers to the file: on a full disk this step fails, but the move does not.
    this.#makePlace(id);
    const path = join(this.#staging, id);
    const file = await open(path, 'wx', 0o600);
    const sums = new BlockSums();
    let [written, checked] = [0, 0];
    return {
      id,
      write: async (piece) => {
        written += piece.length;
        if (written >= checked + roomBytes) {
          checked = written;
          await requireRoom(this.#staging);
        }
        const writing = writeAll(file, piece);
        sums.update(piece);
        await writing;
      },
      sums: () => sums.digest(),
      seal: async () => {
        await file.sync();
        await file.close();
        const folder = await open(this.#staging, 'r');
        await folder.sync().finally(() => folder.close());
      },
      discard: async () => {
        await file.close();
        await rm(path, { force: true });
      },
    };
  }

  /** Move a staged file to its place. This is synchronous, so no reader sees an intermediate state. */
  adopt(id: string): void {
    renameSync(join(this.#staging, id), this.path(id));
  }

  /** Make the folder of a file, one of 256. Making all of them at once took most of the time of a first start. */
  #makePlace(id: string): void {
    const folder = dirname(this.path(id));
    if (this.#made.has(folder)) return;
    if (mkdirSync(folder, { recursive: true, mode: 0o700 }) !== undefined) syncFolder(this.#blobs);
    this.#made.add(folder);
  }

  /** Return the path of a file. */
  path(id: string): string {
    return join(this.#blobs, id.slice(0, 2), id);
  }

  /** Remove a file if it exists. */
  async remove(id: string): Promise<void> {
    await rm(this.path(id), { force: true });
  }
}

/** Check the free disk space after this many bytes of an upload. */
const roomBytes = 1024 * 1024;

function syncFolder(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** A file that is being written. Nothing refers to it yet. */
export interface StagedBlob {
  /** 32 random hex digits. No part of a file name ever comes from a request. */
  id: string;
  write(piece: Uint8Array): Promise<void>;
  /** The checksums of the written blocks. */
  sums(): Uint8Array;
  /** Sync the bytes and the directory entry to the disk. */
  seal(): Promise<void>;
  /** Remove the file. */
  discard(): Promise<void>;
}

async function writeAll(file: FileHandle, piece: Uint8Array): Promise<void> {
  for (let rest = piece; rest.length > 0; ) {
    const { bytesWritten } = await file.write(rest);
    rest = rest.subarray(bytesWritten);
  }
}
