import { constants } from 'node:fs';
import { type FileHandle, glob, open } from 'node:fs/promises';
import { join } from 'node:path';
import { notationsOf } from '../host/credentials.ts';
import { EnvironmentError } from './environment-error.ts';

const chunkBytes = 4 * 1024 * 1024;

/**
 * Refuse an environment that contains a credential, because it would be stored and outlive the secret. Reads every
 * file, which takes a few seconds per GB, unless there are no credentials.
 * @throws EnvironmentError `pack-refused`, which names the file
 */
export async function refuseCredentials(folder: string, credentials: readonly string[]): Promise<void> {
  if (credentials.length === 0) return;
  const texts = [...new Set(credentials.flatMap(notationsOf))].map((text) => Buffer.from(text));
  const buffer = Buffer.allocUnsafe(chunkBytes + Math.max(...texts.map(({ length }) => length)));
  for await (const entry of glob('**', { cwd: folder, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
    if (await holds(file, texts, buffer))
      throw new EnvironmentError(
        'pack-refused',
        `The built environment cannot be kept: ${JSON.stringify(path.slice(folder.length + 1))} contains a credential from the project's variables.`,
      );
  }
}

/** Whether a file contains one of these texts. Reads it in pieces. */
async function holds(file: FileHandle, texts: readonly Buffer[], buffer: Buffer): Promise<boolean> {
  const overlap = Math.max(...texts.map(({ length }) => length)) - 1;
  let kept = 0;
  for (;;) {
    const { bytesRead } = await file.read(buffer, kept, buffer.length - kept, null);
    if (bytesRead === 0) return false;
    const read = buffer.subarray(0, kept + bytesRead);
    if (texts.some((text) => read.includes(text))) return true;
    kept = Math.min(overlap, read.length);
    read.copy(buffer, 0, read.length - kept);
  }
}
