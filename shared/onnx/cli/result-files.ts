import { lstat, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { givenPath } from '../../bundle/given-path.ts';
import { ModelError } from '../model/model-error.ts';
import { fileError, fileErrorCode } from './file-error.ts';
import { type InputFile, identityOf, statOf } from './input-file.ts';

/** Whether the path exists. A broken link counts. */
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

/** The files that a command writes. They share one folder, and their names derive from the name of the result. */
export class ResultFiles {
  /** The value of `--out`, as the user typed it. */
  readonly #given: string;
  /** Absolute paths of the files. */
  readonly model: string;
  readonly data: string;
  readonly receipt: string;
  readonly page: string;

  /** @throws ModelError if `given` names no file */
  constructor(given: string) {
    if (given === '') throw new ModelError('--out must name the file for the result.');
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
   * Check that the files may be written. An input file is never written, whatever path leads to it: a link counts
   * as its target. Other existing files are replaced only with --force.
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
      `${taken.join(', ')} ${are} already there. Give --out another name, or --force to replace ${them}.`,
    );
  }

  async #isTaken(path: string, inputs: readonly InputFile[]): Promise<boolean> {
    const there = await statOf(path);
    if (there === null) return await isThere(path);
    const input = inputs.find(({ identity }) => identity === identityOf(there));
    if (input !== undefined) {
      const what = input.path === path ? 'read, and' : `${input.path}, which is`;
      throw new ModelError(`${path} is ${what} never changed. Give --out another name.`);
    }
    if (there.isDirectory())
      throw new ModelError(path === this.model ? isFolder(this.#given) : `${path} is a folder.`);
    if (!there.isFile()) throw new ModelError(`${path} is not a regular file.`);
    return true;
  }

  /** Create an empty work folder on the file system of the result. @throws ModelError if that is not possible */
  async workFolder(): Promise<string> {
    try {
      await mkdir(this.folder, { recursive: true });
      return await mkdtemp(join(this.folder, '.optimize-'));
    } catch (error) {
      const what = `${this.folder} cannot be written to`;
      // Kernel folders such as /proc return this error.
      if (fileErrorCode(error) === 'ENOENT') throw new ModelError(`${what}: no file can be created there.`);
      throw fileError(what, error);
    }
  }

  /**
   * Move each file to its place with an atomic rename. The model moves last, because its other files must exist
   * before it.
   *
   * @returns the paths of the files
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
      // An earlier model must not appear together with the data of the new one.
      if (files.data !== undefined) await rm(this.model, { force: true });
      for (const { from, to } of moves) await rename(from, to);
      await rename(files.model, this.model);
    } catch (error) {
      throw fileError(`The result cannot be written to ${this.folder}`, error);
    }
    return [this.model, ...moves.map(({ to }) => to)];
  }
}
