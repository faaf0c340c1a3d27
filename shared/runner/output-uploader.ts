import type { FileHandle } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { artifactPathMaxBytes } from '../data/artifact.ts';
import { type ArtifactLimit, folderVariable } from './artifact-limit.ts';
import { ArtifactStore, type ArtifactStoreOptions } from './artifact-store.ts';
import { type FindFilesOptions, type FoundFile, findFiles } from './find-files.ts';
import { FileRefused } from './growing-file.ts';
import { KeptFiles } from './kept-files.ts';
import { LeaseLost } from './lease-lost.ts';
import { type Look, lookAtFile } from './look-at-file.ts';
import { Refusals } from './refusals.ts';
import { TaskPool } from './task-pool.ts';

export interface OutputUploaderOptions extends ArtifactStoreOptions {
  folder: string;
  /** Whose files are taken; where this process is not root, anybody's. */
  user?: { uid: number };
  /** Tells the user what is not kept. */
  say(message: string): void;
  /** The limit was passed while the command runs. Called once. */
  onLimit(error: ArtifactLimit): void;
  /** Milliseconds between two looks. */
  lookMilliseconds?: number;
}

const LOOK_MS = 10_000;
/** Of the time between two looks, for how long nobody may have written to a file that never is the same at two. */
const QUIET_SHARE = 0.2;
const MAX_FILES = 10_000;
const MAX_DEPTH = 64;
/** Files up to this size are uploaded several at a time; a larger one alone, for it takes more memory. */
const SMALL_BYTES = 4 * 1024 * 1024;
const AT_ONCE = 6;

/**
 * Uploads what a command leaves in a folder: while it runs the files that are complete, and at the end all.
 * What the command removes or renames goes from the records too, so that these are what the folder holds; files of an
 * earlier attempt stay until they are overwritten.
 */
export class OutputUploader {
  readonly #options: OutputUploaderOptions;
  readonly #store: ArtifactStore;
  readonly #kept: KeptFiles;
  readonly #ending = new AbortController();
  /** What the last look told of the files. */
  #seen = new Map<string, Look>();
  #isLoaded = false;
  #looking: Promise<void> | undefined;
  #fatal: LeaseLost | undefined;

  constructor(options: OutputUploaderOptions) {
    this.#options = options;
    this.#store = new ArtifactStore(options);
    this.#kept = new KeptFiles(this.#store);
  }

  /** Begins to look into the folder again and again. */
  start(): void {
    this.#looking ??= this.#lookAgainAndAgain();
  }

  /**
   * Uploads what is left, once the command has ended, and tells what is stored in all.
   * @throws ArtifactLimit when not everything could be kept, LeaseLost
   */
  async finish(): Promise<{ files: number; bytes: number }> {
    this.#ending.abort();
    await this.#looking;
    if (this.#fatal !== undefined) throw this.#fatal;
    const refusals = await this.#look(true);
    refusals.tell(folderVariable[this.#options.kind], (message) => this.#options.say(message));
    await this.#store.sweep();
    if (this.#kept.limit !== undefined) throw this.#kept.limit;
    return { files: this.#store.files, bytes: this.#store.bytes };
  }

  async #lookAgainAndAgain(): Promise<void> {
    const { onLimit, lookMilliseconds = LOOK_MS } = this.#options;
    const { signal } = this.#ending;
    while (!signal.aborted) {
      try {
        await this.#look(false);
      } catch (error) {
        if (error instanceof LeaseLost) {
          this.#fatal = error;
          return;
        }
        // Whatever else it was, the next look or the last one meets it again.
      }
      if (this.#kept.limit !== undefined) return onLimit(this.#kept.limit);
      await delay(lookMilliseconds, undefined, { signal }).catch(() => undefined);
    }
  }

  async #look(isLast: boolean): Promise<Refusals> {
    const { folder, user, lookMilliseconds = LOOK_MS } = this.#options;
    const refusals = new Refusals();
    const seen = new Map<string, Look>();
    const refused = (path: string, why: string) => refusals.add(path, why);
    if (!this.#isLoaded) await this.#store.load();
    this.#isLoaded = true;
    const bounds = { maxFiles: MAX_FILES, maxDepth: MAX_DEPTH, maxPathBytes: artifactPathMaxBytes };
    const pool = new TaskPool(AT_ONCE);
    try {
      for await (const found of findFiles(folder, {
        ...bounds,
        refused,
        ...(user !== undefined && { user }),
      })) {
        if (!isLast && this.#ending.signal.aborted) return refusals;
        const { path, version } = found;
        const look = lookAtFile(found, this.#seen.get(path), QUIET_SHARE * lookMilliseconds);
        seen.set(path, look);
        this.#kept.meet(path);
        const isDue = isLast || (look.isComplete && this.#kept.versionOf(path) !== version);
        if (!isDue) continue;
        const isLarge = found.size > SMALL_BYTES;
        if (isLarge) await pool.settle();
        const handle = await openFound(found, refused);
        if (handle === undefined) continue;
        await pool
          .add(() => this.#kept.take(path, handle, isLast, refused))
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
    await this.#removeVanished(seen, isLast, refusals);
    this.#seen = seen;
    return refusals;
  }

  /** Removes what is no longer in the folder. During the run two looks must miss it, for a walk may miss a renamed file. */
  async #removeVanished(seen: ReadonlyMap<string, Look>, isLast: boolean, refusals: Refusals): Promise<void> {
    for (const path of this.#kept.paths()) {
      if (seen.has(path) || refusals.hide(path)) continue;
      if (!isLast && this.#seen.has(path)) continue;
      await this.#kept.remove(path);
    }
  }
}

/** Opens a file that was found; undefined when it has gone, or has become one that may not be read. */
async function openFound(
  found: FoundFile,
  refused: FindFilesOptions['refused'],
): Promise<FileHandle | undefined> {
  try {
    return await found.open();
  } catch (error) {
    if (error instanceof FileRefused) refused(found.path, error.message);
    else if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
    return undefined;
  }
}
