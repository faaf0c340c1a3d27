import { lstat, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { givenPath } from '../../bundle/given-path.ts';
import { ModelError } from '../model/model-error.ts';
import { fileError, fileErrorCode } from './file-error.ts';
import { type InputFile, identityOf, statOf } from './input-file.ts';

/** Whether the path exists, also as a broken link. */
async function isThere(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (fileErrorCode(error) === 'ENOENT') return false;
    throw error;
  }
}

const isFolder = (given: string): string => `--out ${given} is a folder; give the name of a file in it.`;

/** The files that a command writes. All are in one folder, and their names come from the name of the result. */
export class ResultFiles {
  /** The value of `--out`, as the user typed it. */
  readonly #given: string;
  /** Absolute paths. */
  readonly model: string;
  readonly data: string;
  readonly receipt: string;
  readonly page: string;

  /** @throws ModelError where `given` names no file */
  constructor(given: string) {
    if (given === '') throw new ModelError('--out must name the file that the result is written to.');
    if (/\/$/.test(given)) throw new ModelError(isFolder(given));
    this.#given = given;
    this.model = givenPath(given);
    this.data = `${this.model}.data`;
    const stem = join(this.folder, basename(this.model, extname(this.model)));
    this.receipt = `${stem}.receipt.json`;
    this.page = `${stem}.receipt.svg`;
  }

  get folder(): string {
    return dirname(this.model);
  }

  get name(): string {
    return basename(this.model);
  }

  /**
   * Check that the files may be written. An input file is never written, by none of its names: a link counts as its
   * target. Other existing files are replaced only with --force.
   *
   * @throws ModelError
   */
  async refuseTaken(inputs: readonly InputFile[], force: boolean): Promise<void> {
    const taken: string[] = [];
    for (const path of [this.model, this.data, this.receipt, this.page]) {
      try {
        if (await this.#isTaken(path, inputs)) taken.push(path);
      } catch (error) {
        throw fileError(`${path} cannot be written`, error);
      }
    }
    if (force || taken.length === 0) return;
    const [are, them] = taken.length === 1 ? ['is', 'it'] : ['are', 'them'];
    throw new ModelError(
      `${taken.join(', ')} ${are} there already: give --out another name, or --force to replace ${them}.`,
    );
  }

  async #isTaken(path: string, inputs: readonly InputFile[]): Promise<boolean> {
    const there = await statOf(path);
    if (there === null) return await isThere(path);
    const input = inputs.find(({ identity }) => identity === identityOf(there));
    if (input !== undefined) {
      const what = input.path === path ? 'read, and' : `${input.path}, which is`;
      throw new ModelError(`${path} is ${what} never changed: give --out another name.`);
    }
    if (there.isDirectory())
      throw new ModelError(path === this.model ? isFolder(this.#given) : `${path} is a folder.`);
    if (!there.isFile()) throw new ModelError(`${path} is no regular file.`);
    return true;
  }

  /** An empty folder to work in, on the file system of the result. @throws ModelError where there can be none */
  async workFolder(): Promise<string> {
    try {
      await mkdir(this.folder, { recursive: true });
      return await mkdtemp(join(this.folder, '.optimize-'));
    } catch (error) {
      const what = `Nothing can be written to ${this.folder}`;
      // The error that folders of the kernel (/proc) give.
      if (fileErrorCode(error) === 'ENOENT') throw new ModelError(`${what}: no file can be made there.`);
      throw fileError(what, error);
    }
  }

  /**
   * Moves files to their places, each at once: the model last, so that it is there only with all that belongs to it.
   *
   * @returns where they are
   */
  async put(files: {
    model: string;
    data: string | undefined;
    receipt: string;
    page: string;
  }): Promise<string[]> {
    const moves = [
      ...(files.data === undefined ? [] : [{ from: files.data, to: this.data }]),
      { from: files.receipt, to: this.receipt },
      { from: files.page, to: this.page },
    ];
    try {
      // A former model must not be found with data of another.
      if (files.data !== undefined) await rm(this.model, { force: true });
      for (const { from, to } of moves) await rename(from, to);
      await rename(files.model, this.model);
    } catch (error) {
      throw fileError(`The result cannot be written to ${this.folder}`, error);
    }
    return [this.model, ...moves.map(({ to }) => to)];
  }
}
