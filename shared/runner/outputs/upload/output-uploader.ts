import { setTimeout as delay } from 'node:timers/promises';
import { JobError, LeaseLostError } from '../../job/job-error.ts';
import type { FindFilesOptions } from '../find-files.ts';
import { KeptFiles } from '../kept-files.ts';
import { maxOutputFiles, OutputFolder, openFound, Refusals } from '../output-folder.ts';
import type { PinnedFiles } from '../pinned-files.ts';
import {
  type ArtifactLimitError,
  ArtifactStore,
  type ArtifactStoreOptions,
  folderVariable,
} from './artifact-store.ts';
import type { OpenFile } from './file-bytes.ts';
import { TaskPool } from './task-pool.ts';

export interface OutputUploaderOptions extends ArtifactStoreOptions {
  folder: string;
  /** Owner of the uploaded files; any owner if this process is not root. */
  user?: { uid: number };
  /** Writes a line to the user's log. */
  say(message: string): void;
  /** Called once, when the files exceed the limit while the command runs. */
  onLimit(error: ArtifactLimitError): void;
  /** Milliseconds between two passes over the folder. */
  lookMilliseconds?: number;
  /**
   * Return the inodes of the files that the command's processes can write to; undefined if they are not visible.
   */
  writable?(): Promise<ReadonlySet<bigint> | undefined>;
}

const defaultLookMilliseconds = 10_000;

/**
 * Share of the time between two passes after which a file without writes is complete. If writers are not visible,
 * the whole time counts.
 */
const quietShareOfLook = 0.2;

type Refused = FindFilesOptions['refused'];

const restlessTries = 3;

/** The share for files that changed in `restlessFrom` passes in a row. */
const restlessShare = 0.025;

const restlessFrom = 2;

const atOnce = 6;

/**
 * Files up to this size are uploaded `atOnce` at a time. A larger file is uploaded alone, because it takes more
 * memory.
 */
const smallBytes = 4 * 1024 * 1024;

/**
 * Uploads the files of a command's folder: complete files while it runs, and all at the end. Files that the command
 * removes or renames are removed from the records too, so that the records match the folder. Files of an earlier
 * attempt stay until they are overwritten.
 */
export class OutputUploader {
  readonly #options: OutputUploaderOptions;
  readonly #lookMilliseconds: number;
  readonly #store: ArtifactStore;
  readonly #kept: KeptFiles;
  readonly #folder: OutputFolder;
  readonly #ending = new AbortController();
  /** Paths that the last pass found. */
  #seen: ReadonlySet<string> = new Set();
  /** Number of passes in which a file was being written since it was last stored. */
  readonly #changes = new Map<string, number>();
  #loading: Promise<void> | undefined;
  #looking: Promise<void> | undefined;
  #fatal: LeaseLostError | undefined;
  #isFinished = false;

  constructor(options: OutputUploaderOptions) {
    this.#options = options;
    this.#lookMilliseconds = options.lookMilliseconds ?? defaultLookMilliseconds;
    this.#store = new ArtifactStore(options);
    this.#kept = new KeptFiles(this.#store);
    this.#folder = new OutputFolder(options.folder, options.user, this.#kept);
  }

  /** Start to check the folder at intervals. */
  start(): void {
    this.#looking ??= this.#lookAtIntervals();
  }

  /**
   * Store a file that a client logs, in addition to those of the folder. If both have the same path, the folder's
   * file is kept at the end.
   * @throws ArtifactLimitError; LeaseLostError
   */
  async log(path: string, file: OpenFile): Promise<void> {
    await this.#load();
    if (this.#isFinished && this.#seen.has(path)) return;
    if (this.#store.files >= maxOutputFiles && this.#store.find(path) === undefined)
      throw new JobError(`A job may keep at most ${maxOutputFiles} files.`);
    await this.#store.put(path, file);
  }

  /** Files and bytes that the job may still store. */
  get room(): { files: number; bytes: number } {
    return {
      files: Math.max(0, maxOutputFiles - this.#store.files),
      bytes: Math.max(0, this.#options.maxBytes - this.#store.bytes),
    };
  }

  /**
   * Upload the remaining files after the command has ended, and return the totals.
   * @throws ArtifactLimitError if not all files could be stored; LeaseLostError
   */
  async finish(): Promise<{ files: number; bytes: number }> {
    this.#ending.abort();
    await this.#looking;
    if (this.#fatal !== undefined) throw this.#fatal;
    const refusals = await this.#lookLast();
    refusals.report(folderVariable[this.#options.kind], (message) => this.#options.say(message));
    await this.#store.removeOrphans();
    if (this.#kept.limit !== undefined) throw this.#kept.limit;
    return { files: this.#store.files, bytes: this.#store.bytes };
  }

  async #lookAtIntervals(): Promise<void> {
    const { onLimit } = this.#options;
    const { signal } = this.#ending;
    while (!signal.aborted) {
      const next = performance.now() + this.#lookMilliseconds;
      try {
        await this.#scan();
      } catch (error) {
        if (error instanceof LeaseLostError) {
          this.#fatal = error;
          return;
        }
        // Ignore any other error: the next pass tries again.
      }
      if (this.#kept.limit !== undefined) return onLimit(this.#kept.limit);
      await this.#pause(Math.max(quietShareOfLook * this.#lookMilliseconds, next - performance.now()));
    }
  }

  /** Wait for some time, or until the command ends. */
  #pause(milliseconds: number): Promise<void> {
    return delay(milliseconds, undefined, { signal: this.#ending.signal }).catch(() => undefined);
  }

  /** Upload the files that are complete, while the command may still write. */
  async #scan(): Promise<void> {
    const refusals = new Refusals();
    const refused: Refused = (path, why) => refusals.add(path, why);
    await this.#load();
    await using closing = new AsyncDisposableStack();
    const { files, seen } = await this.#folder.pinChanged(refused);
    closing.defer(() => files.close());
    if (files.size > 0) {
      let isVisible = await this.#takeComplete(files, quietShareOfLook, refused);
      // A file that is written repeatedly is quiet only for moments, so it is enough that no process has it open.
      // Right after a write is the best moment, so try a few times.
      for (let tries = 0; isVisible && files.size > 0 && tries < restlessTries; tries += 1)
        isVisible = await this.#takeComplete(files, restlessShare, refused);
    }
    if (this.#ending.signal.aborted) return;
    await this.#folder.removeVanished(seen, this.#seen, refusals);
    this.#seen = seen;
    for (const path of this.#changes.keys()) if (!seen.has(path)) this.#changes.delete(path);
  }

  /**
   * Wait for a share of the time between two passes, and upload the files that are then complete.
   * @returns whether writers are visible
   */
  async #takeComplete(files: PinnedFiles, quietShare: number, refused: Refused): Promise<boolean> {
    const { folder, writable } = this.#options;
    await this.#pause(quietShare * this.#lookMilliseconds);
    const visible = await writable?.();
    if (visible === undefined) await this.#pause((1 - quietShare) * this.#lookMilliseconds);
    if (this.#ending.signal.aborted) return false;
    const isRestless = (path: string) => {
      const changes = (this.#changes.get(path) ?? 0) + 1;
      this.#changes.set(path, changes);
      return changes >= restlessFrom;
    };
    const complete = await files.takeComplete(folder, visible ?? new Set(), isRestless);
    try {
      // Upload in the order of writing. If this process dies, the stored files existed on the disk at the same
      // time.
      for (let file = complete.shift(); file !== undefined; file = complete.shift()) {
        if (this.#ending.signal.aborted) {
          await file.handle.close();
          return false;
        }
        await this.#kept.take(file.path, file, false, refused);
        this.#changes.delete(file.path);
      }
      return visible !== undefined;
    } finally {
      for (const { handle } of complete) await handle.close();
    }
  }

  /** Upload all files that are not stored, after the command has ended. */
  async #lookLast(): Promise<Refusals> {
    const refusals = new Refusals();
    const refused: Refused = (path, why) => refusals.add(path, why);
    const seen = new Set<string>();
    await this.#load();
    const pool = new TaskPool(atOnce);
    try {
      for await (const found of this.#folder.walk(refused)) {
        seen.add(found.path);
        const isLarge = found.size > smallBytes;
        if (isLarge) await pool.settle();
        const handle = await openFound(found, refused);
        if (handle === undefined) continue;
        await pool
          .add(() => this.#kept.take(found.path, { handle }, true, refused))
          .catch(async (error: unknown) => {
            await handle.close();
            throw error;
          });
        if (isLarge) await pool.settle();
      }
      await pool.drain();
    } finally {
      await pool.settle();
    }
    await this.#folder.removeVanished(seen, new Set(), refusals);
    this.#seen = seen;
    this.#isFinished = true;
    return refusals;
  }

  async #load(): Promise<void> {
    this.#loading ??= this.#store.load().catch((error: unknown) => {
      this.#loading = undefined;
      throw error;
    });
    await this.#loading;
  }
}
