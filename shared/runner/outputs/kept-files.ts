import { FileRefusedError } from '../host/growing-file.ts';
import type { FindFilesOptions } from './find-files.ts';
import { ArtifactLimitError, type ArtifactStore } from './upload/artifact-store.ts';
import { FileBytes, FileChangedError, type OpenFile } from './upload/file-bytes.ts';

/** Maximum number of reads of a file that changes during the last pass. */
const maxTries = 3;

/** The stored files that were in the folder in this attempt, with their versions. */
export class KeptFiles {
  readonly #store: ArtifactStore;
  /** Version that was stored, if known. */
  readonly #versions = new Map<string, string | undefined>();
  #limit: ArtifactLimitError | undefined;

  constructor(store: ArtifactStore) {
    this.#store = store;
  }

  /** Set once a file did not fit. */
  get limit(): ArtifactLimitError | undefined {
    return this.#limit;
  }

  paths(): Iterable<string> {
    return this.#versions.keys();
  }

  versionOf(path: string): string | undefined {
    return this.#versions.get(path);
  }

  /** Record that a file is in the folder. */
  meet(path: string): void {
    if (!this.#versions.has(path) && this.#store.find(path) !== undefined)
      this.#versions.set(path, undefined);
  }

  /** Upload an open file if it differs from the stored one, and close it. @throws LeaseLostError */
  async take(
    path: string,
    file: OpenFile,
    isLast: boolean,
    refused: FindFilesOptions['refused'],
  ): Promise<void> {
    try {
      for (let tries = 1; ; tries += 1) {
        try {
          if (await this.#isStored(path, file, isLast)) return;
          this.#versions.set(path, await this.#store.put(path, file));
          return;
        } catch (error) {
          if (error instanceof FileChangedError && isLast && tries < maxTries) continue;
          if (error instanceof FileChangedError || error instanceof FileRefusedError)
            refused(path, error.message);
          else if (error instanceof ArtifactLimitError) this.#limit ??= error;
          else throw error;
          return;
        }
      }
    } finally {
      await file.handle.close();
    }
  }

  /** Remove a file that is no longer in the folder. @throws LeaseLostError */
  async remove(path: string): Promise<void> {
    await this.#store.remove(path);
    this.#versions.delete(path);
  }

  /**
   * Return whether the stored version equals the file. Compare the bytes if times do not decide: for a file of an
   * earlier attempt, and for every file at the end, because writes through a memory map may leave no trace in the
   * times.
   */
  async #isStored(path: string, file: OpenFile, isLast: boolean): Promise<boolean> {
    const artifact = this.#store.find(path);
    const bytes = await FileBytes.of(file);
    const version = this.#versions.get(path);
    if (artifact === undefined || artifact.size !== bytes.size) return false;
    if (version !== undefined && (version !== bytes.version || !isLast)) return version === bytes.version;
    if ((await bytes.hash()) !== artifact.sha256) return false;
    this.#versions.set(path, bytes.version);
    return true;
  }
}
