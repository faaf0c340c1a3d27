import type { FileHandle } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { artifactPathMaxBytes } from '../../data/artifact.ts';
import { LeaseLostError } from '../job/lease-lost-error.ts';
import { type ArtifactLimitError, folderVariable } from './artifact-limit-error.ts';
import { ArtifactStore, type ArtifactStoreOptions } from './artifact-store.ts';
import { type FindFilesOptions, type FoundFile, findFiles } from './find-files.ts';
import { FileRefusedError } from './growing-file.ts';
import { KeptFiles } from './kept-files.ts';
import { PinnedFiles } from './pinned-files.ts';
import { Refusals } from './refusals.ts';
import { TaskPool } from './task-pool.ts';

export interface OutputUploaderOptions extends ArtifactStoreOptions {
  folder: string;
  /** Whose files are taken; where this process is not root, anybody's. */
  user?: { uid: number };
  /** Tells the user what is not kept. */
  say(message: string): void;
  /** The limit was passed while the command runs. Called once. */
  onLimit(error: ArtifactLimitError): void;
  /** Milliseconds between two looks. */
  lookMilliseconds?: number;
  /** Inodes of the files that the command's processes can write to; undefined where that cannot be seen. */
  writable?(): Promise<ReadonlySet<bigint> | undefined>;
}

const LOOK_MS = 10_000;
/** Of the time between two looks, for how long nobody may write to a file; all of it where writers cannot be seen. */
const QUIET_SHARE = 0.2;
/** The same for files that looks met being written, from the second one on. */
const RESTLESS_SHARE = 0.025;
const RESTLESS_FROM = 2;
const RESTLESS_TRIES = 3;
/** How often a walk is repeated that met changes made during itself. */
const MAX_WALKS = 3;
const MAX_FILES = 10_000;
const MAX_DEPTH = 64;
/** Files up to this size are uploaded several at a time; a larger one alone, for it takes more memory. */
const SMALL_BYTES = 4 * 1024 * 1024;
const AT_ONCE = 6;

type Refused = FindFilesOptions['refused'];

/**
 * Uploads what a command leaves in a folder: while it runs the files that are complete, and at the end all.
 * What the command removes or renames goes from the records too, so that these are what the folder holds; files of an
 * earlier attempt stay until they are overwritten.
 */
export class OutputUploader {
  readonly #options: OutputUploaderOptions;
  readonly #lookMilliseconds: number;
  readonly #store: ArtifactStore;
  readonly #kept: KeptFiles;
  readonly #ending = new AbortController();
  /** Paths that the last look met. */
  #seen: ReadonlySet<string> = new Set();
  /** Looks that met a file being written, since it was last stored. */
  readonly #changes = new Map<string, number>();
  #isLoaded = false;
  #looking: Promise<void> | undefined;
  #fatal: LeaseLostError | undefined;

  constructor(options: OutputUploaderOptions) {
    this.#options = options;
    this.#lookMilliseconds = options.lookMilliseconds ?? LOOK_MS;
    this.#store = new ArtifactStore(options);
    this.#kept = new KeptFiles(this.#store);
  }

  /** Begins to look into the folder again and again. */
  start(): void {
    this.#looking ??= this.#lookAgainAndAgain();
  }

  /**
   * Uploads what is left, once the command has ended, and tells what is stored in all.
   * @throws ArtifactLimitError when not everything could be kept, LeaseLostError
   */
  async finish(): Promise<{ files: number; bytes: number }> {
    this.#ending.abort();
    await this.#looking;
    if (this.#fatal !== undefined) throw this.#fatal;
    const refusals = await this.#lookLast();
    refusals.tell(folderVariable[this.#options.kind], (message) => this.#options.say(message));
    await this.#store.sweep();
    if (this.#kept.limit !== undefined) throw this.#kept.limit;
    return { files: this.#store.files, bytes: this.#store.bytes };
  }

  async #lookAgainAndAgain(): Promise<void> {
    const { onLimit } = this.#options;
    const { signal } = this.#ending;
    while (!signal.aborted) {
      const next = performance.now() + this.#lookMilliseconds;
      try {
        await this.#look();
      } catch (error) {
        if (error instanceof LeaseLostError) {
          this.#fatal = error;
          return;
        }
        // Whatever else it was, the next look or the last one meets it again.
      }
      if (this.#kept.limit !== undefined) return onLimit(this.#kept.limit);
      await this.#pause(Math.max(QUIET_SHARE * this.#lookMilliseconds, next - performance.now()));
    }
  }

  /** Waits, but not beyond the command's end. */
  #pause(milliseconds: number): Promise<void> {
    return delay(milliseconds, undefined, { signal: this.#ending.signal }).catch(() => undefined);
  }

  /** Uploads the files that are complete while the command may go on writing. */
  async #look(): Promise<void> {
    const refusals = new Refusals();
    const refused: Refused = (path, why) => refusals.add(path, why);
    await this.#load();
    await using closing = new AsyncDisposableStack();
    const { files, seen } = await this.#pinChanged(refused);
    closing.defer(() => files.close());
    if (files.size > 0) {
      let isVisible = await this.#takeComplete(files, QUIET_SHARE, refused);
      // Of what is written again and again only moments are quiet; that nobody is seen to have it open is enough then.
      // One that was just written is quiet next, whatever the writer's rhythm.
      for (let tries = 0; isVisible && files.size > 0 && tries < RESTLESS_TRIES; tries += 1)
        isVisible = await this.#takeComplete(files, RESTLESS_SHARE, refused);
    }
    if (this.#ending.signal.aborted) return;
    await this.#removeVanished(seen, this.#seen, refusals);
    this.#seen = seen;
    for (const path of this.#changes.keys()) if (!seen.has(path)) this.#changes.delete(path);
  }

  /** Waits for a share of the time between two looks, and uploads what is complete then. Tells whether writers are visible. */
  async #takeComplete(files: PinnedFiles, quietShare: number, refused: Refused): Promise<boolean> {
    const { folder, writable } = this.#options;
    await this.#pause(quietShare * this.#lookMilliseconds);
    const visible = await writable?.();
    if (visible === undefined) await this.#pause((1 - quietShare) * this.#lookMilliseconds);
    if (this.#ending.signal.aborted) return false;
    const isRestless = (path: string) => {
      const changes = (this.#changes.get(path) ?? 0) + 1;
      this.#changes.set(path, changes);
      return changes >= RESTLESS_FROM;
    };
    const complete = await files.takeComplete(folder, visible ?? new Set(), isRestless);
    try {
      // One after the other, as they were written: what is stored when this process dies lay together on the disk.
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

  /** Opens the files that are not stored as they are; and tells which paths there are. */
  async #pinChanged(refused: Refused): Promise<{ files: PinnedFiles; seen: Set<string> }> {
    for (let walks = 1; ; walks += 1) {
      const files = new PinnedFiles();
      const seen = new Set<string>();
      try {
        for await (const found of this.#walk(refused)) {
          const { path, version } = found;
          seen.add(path);
          if (files.isFull || this.#kept.versionOf(path) === version) continue;
          const handle = await openFound(found, refused);
          if (handle !== undefined) await files.pin(path, handle);
        }
      } catch (error) {
        await files.close();
        throw error;
      }
      if (!files.isTorn || walks === MAX_WALKS) return { files, seen };
      await files.close();
    }
  }

  /** Uploads all that is not stored, once nobody writes any more. */
  async #lookLast(): Promise<Refusals> {
    const refusals = new Refusals();
    const refused: Refused = (path, why) => refusals.add(path, why);
    const seen = new Set<string>();
    await this.#load();
    const pool = new TaskPool(AT_ONCE);
    try {
      for await (const found of this.#walk(refused)) {
        seen.add(found.path);
        const isLarge = found.size > SMALL_BYTES;
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
    await this.#removeVanished(seen, new Set(), refusals);
    return refusals;
  }

  async #load(): Promise<void> {
    if (!this.#isLoaded) await this.#store.load();
    this.#isLoaded = true;
  }

  async *#walk(refused: Refused): AsyncGenerator<FoundFile> {
    const { folder, user } = this.#options;
    const bounds = { maxFiles: MAX_FILES, maxDepth: MAX_DEPTH, maxPathBytes: artifactPathMaxBytes };
    for await (const found of findFiles(folder, {
      ...bounds,
      refused,
      ...(user !== undefined && { user }),
    })) {
      this.#kept.meet(found.path);
      yield found;
    }
  }

  /** Removes what is no longer in the folder, nor was `before`: during the run a walk may miss a renamed file. */
  async #removeVanished(
    seen: ReadonlySet<string>,
    before: ReadonlySet<string>,
    refusals: Refusals,
  ): Promise<void> {
    for (const path of this.#kept.paths()) {
      if (seen.has(path) || before.has(path) || refusals.hide(path)) continue;
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
    if (error instanceof FileRefusedError) refused(found.path, error.message);
    else if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
    return undefined;
  }
}
