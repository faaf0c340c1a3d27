import { createHash } from 'node:crypto';
import { open, stat } from 'node:fs/promises';
import { readBlocks } from '../../shared/client/node/read-blocks.ts';
import { hasCode } from '../../shared/host/has-code.ts';
import { CliError, exitCodes } from '../cli-error.ts';

/**
 * Compute the size and SHA-256 of a file in one pass.
 *
 * @throws CliError for a path that is no file, or for an empty or unreadable file
 */
export async function digestFile(path: string, signal?: AbortSignal): Promise<DigestedFile> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) throw new CliError(`There is no file ${path}.`, exitCodes.usage);
  if (!found.isFile()) throw new CliError(`${path} is not a file.`, exitCodes.usage);
  const { size } = found;
  if (size === 0) throw new CliError(`${path} is empty.`, exitCodes.usage);
  const hash = createHash('sha256');
  try {
    await using file = await open(path);
    for await (const block of readBlocks(file, { size, signal })) hash.update(block);
  } catch (error) {
    if (hasCode(error, 'EACCES')) throw new CliError(`${path} cannot be read: permission denied.`);
    throw error;
  }
  return { path, size, sha256: hash.digest('hex') };
}

export interface DigestedFile {
  path: string;
  size: number;
  /** SHA-256 digest in hexadecimal digits. */
  sha256: string;
}
