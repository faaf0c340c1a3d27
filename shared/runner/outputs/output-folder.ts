import type { FileHandle } from 'node:fs/promises';
import { artifactPathMaxBytes } from '../../data/experiments/tracking-rules.ts';
import { hasCode } from '../../host/has-code.ts';
import { FileRefusedError } from '../host/growing-file.ts';
import { type FindFilesOptions, type FoundFile, findFiles } from './find-files.ts';
import type { KeptFiles } from './kept-files.ts';
import { PinnedFiles } from './pinned-files.ts';

type Refused = FindFilesOptions['refused'];

/** Maximum number of walks if files keep changing. */
const maxWalks = 3;

/** Maximum number of files of a folder. */
export const maxOutputFiles = 10_000;

const bounds = { maxFiles: maxOutputFiles, maxDepth: 64, maxPathBytes: artifactPathMaxBytes };

/** The output folder of a command, compared with its stored files. */
export class OutputFolder {
  readonly #folder: string;
  readonly #user: { uid: number } | undefined;
  readonly #kept: KeptFiles;

  /** @param user owner of the collected files; any owner if this process is not root */
  constructor(folder: string, user: { uid: number } | undefined, kept: KeptFiles) {
    this.#folder = folder;
    this.#user = user;
    this.#kept = kept;
  }

  /** Open the files that differ from their stored versions, and return them with the paths of the folder. */
  async pinChanged(refused: Refused): Promise<{ files: PinnedFiles; seen: Set<string> }> {
    for (let walks = 1; ; walks += 1) {
      const files = new PinnedFiles();
      const seen = new Set<string>();
      try {
        for await (const found of this.walk(refused)) {
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
      if (!files.isTorn || walks === maxWalks) return { files, seen };
      await files.close();
    }
  }

  /** Find the files of the folder. */
  async *walk(refused: Refused): AsyncGenerator<FoundFile> {
    const options = { ...bounds, refused, ...(this.#user !== undefined && { user: this.#user }) };
    for await (const file of findFiles(this.#folder, options)) {
      this.#kept.meet(file.path);
      yield file;
    }
  }

  /**
   * Remove the stored files that are not in the folder (`seen`) now and were not in it at the last pass
   * (`before`). A walk during the run may miss a file that is being renamed.
   * @throws LeaseLostError
   */
  async removeVanished(
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

/** Open a found file; undefined if it was removed or replaced by one that must not be read. */
export async function openFound(foundFile: FoundFile, refused: Refused): Promise<FileHandle | undefined> {
  try {
    return await foundFile.open();
  } catch (error) {
    if (error instanceof FileRefusedError) refused(foundFile.path, error.message);
    else if (!hasCode(error, 'ENOENT')) throw error;
    return undefined;
  }
}

/** Maximum number of refused files in the report. */
const maxNamed = 20;

/** Files of a folder that are not kept, with the reasons. */
export class Refusals {
  readonly #reasons = new Map<string, string>();

  /** A blank path stands for the whole folder: its walk ended early. */
  add(path: string, why: string): void {
    this.#reasons.set(path, why);
  }

  /** Whether a path may exist although the walk did not reach it. */
  hide(path: string): boolean {
    if (this.#reasons.has('')) return true;
    for (let slash = path.indexOf('/'); slash !== -1; slash = path.indexOf('/', slash + 1)) {
      if (this.#reasons.has(path.slice(0, slash))) return true;
    }
    return false;
  }

  /** Report each path on one line, up to a limit. */
  report(folder: string, say: (message: string) => void): void {
    const whole = this.#reasons.get('');
    if (whole !== undefined) say(`${folder}: some files are not kept, because ${whole}.`);
    const named = [...this.#reasons].filter(([path]) => path !== '');
    for (const [path, why] of named.slice(0, maxNamed))
      say(`${folder}: ${JSON.stringify(path)} is not kept: ${why}.`);
    if (named.length > maxNamed) say(`${folder}: ${named.length - maxNamed} more files are not kept.`);
  }
}
