import { createHash } from 'node:crypto';
import { constants, type FileHandle, open, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { EnvironmentError } from '../environment-error.ts';

/**
 * Opens a file inside the source folder for reading.
 * No component of `path` (relative, normal form) may be a link and the file must be regular, so that a source archive
 * cannot make the service read something of its own. O_NONBLOCK keeps a named pipe from blocking for ever.
 */
async function openSourceFile(folder: string, path: string, maxBytes: number): Promise<FileHandle> {
  const refuse = (why: string, cause?: unknown) =>
    new EnvironmentError('bad-dependencies', `${path}: ${why}`, cause);
  const root = await realpath(folder);
  const full = join(root, path);
  let file: FileHandle | undefined;
  try {
    if ((await realpath(dirname(full))) !== dirname(full)) throw refuse('lies behind a link');
    file = await open(full, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const facts = await file.stat();
    if (!facts.isFile()) throw refuse('is not a regular file');
    if (facts.size > maxBytes) throw refuse(`has more than ${maxBytes} bytes`);
    return file;
  } catch (error) {
    await file?.close();
    if (error instanceof EnvironmentError) throw error;
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'ENOTDIR') throw refuse('is not in the source', error);
    if (code === 'ELOOP') throw refuse('is a link', error);
    throw error;
  }
}

/** The text of a small file of the source (UTF-8, at most `maxBytes` bytes). */
export async function readSourceText(folder: string, path: string, maxBytes: number): Promise<string> {
  const file = await openSourceFile(folder, path, maxBytes);
  try {
    const bytes = await file.readFile();
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new EnvironmentError('bad-dependencies', `${path}: is not UTF-8 text`, error);
  } finally {
    await file.close();
  }
}

/**
 * SHA-256 (hex) of a file of the source; with `to`, the file is copied there in the same pass,
 * so that what is installed is exactly what was hashed.
 */
export async function hashSourceFile(
  folder: string,
  path: string,
  maxBytes: number,
  to?: string,
): Promise<string> {
  const file = await openSourceFile(folder, path, maxBytes);
  const copy = to === undefined ? undefined : await open(to, 'wx');
  try {
    // Readable for the builder with any umask of the service.
    await copy?.chmod(0o644);
    const hash = createHash('sha256');
    for await (const chunk of file.createReadStream({ autoClose: false, highWaterMark: 1024 * 1024 })) {
      hash.update(chunk);
      await copy?.writeFile(chunk);
    }
    return hash.digest('hex');
  } finally {
    await copy?.close();
    await file.close();
  }
}
