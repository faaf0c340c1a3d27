import type { BigIntStats } from 'node:fs';
import { access, constants, open, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { givenPath } from '../../bundle/given-path.ts';
import { usualLimits } from '../model/inspect/inspect-limits.ts';
import { inspectModel } from '../model/inspect/inspect-model.ts';
import type { ModelSummary } from '../model/inspect/model-summary.ts';
import { ModelError } from '../model/model-error.ts';
import { fileError, fileErrorCode } from './file-error.ts';

/** A file that the command reads. The command never writes to it. */
export interface InputFile {
  /** Absolute path. */
  path: string;
  identity: string;
}

/** Return the identity of a file. It is the same for all its names and links. */
export const identityOf = ({ dev, ino }: BigIntStats): string => `${dev}:${ino}`;

/**
 * Return the stat of the file that a path or link leads to. Null if there is no such file.
 *
 * @throws other errors of the file system
 */
export async function statOf(path: string): Promise<BigIntStats | null> {
  try {
    return await stat(path, { bigint: true });
  } catch (error) {
    if (fileErrorCode(error) === 'ENOENT') return null;
    throw error;
  }
}

/**
 * Check that a file from the command line is readable. `flag` is the flag before it, or empty for the model.
 *
 * @throws ModelError
 */
export async function inputFile(given: string, flag = ''): Promise<InputFile> {
  const what = `${flag} ${given}`.trim();
  if (given === '') throw new ModelError(`${flag || 'The model'} must name a file.`);
  const path = givenPath(given);
  try {
    const stats = await stat(path, { bigint: true });
    if (stats.isDirectory()) throw new ModelError(`${what} is a folder; give a file.`);
    if (!stats.isFile()) throw new ModelError(`${what} is not a regular file.`);
    await access(path, constants.R_OK);
    return { path, identity: identityOf(stats) };
  } catch (error) {
    throw fileError(`${what} cannot be read`, error);
  }
}

/** Higher limits than the service has: no request deadline applies, and the file is the user's own. */
const limits = {
  ...usualLimits,
  reads: 1e6,
  bytes: 2 ** 31,
  nameBytes: 2 ** 28,
  entries: 1e5,
  tensors: 1e5,
  // The service has these names in its paths, the command reads files that already exist.
  fileName: /^(?!\.{1,2}$)[^\p{C}/\\]{1,200}$/u,
};

/** Inspect a model file. @throws ModelError if the file is not a model */
export async function inspectFile(path: string): Promise<ModelSummary> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const read = async (offset: number, length: number): Promise<Uint8Array> => {
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(length), 0, length, offset);
      return buffer.subarray(0, bytesRead);
    };
    return await inspectModel({ size, read }, limits);
  } finally {
    await file.close();
  }
}

/** Return the external data files of a model that exist. */
export async function dataFilesOf(model: string, { external_files }: ModelSummary): Promise<InputFile[]> {
  const files: InputFile[] = [];
  for (const name of external_files) {
    const path = join(dirname(model), name);
    const found = await statOf(path);
    if (found !== null) files.push({ path, identity: identityOf(found) });
  }
  return files;
}
