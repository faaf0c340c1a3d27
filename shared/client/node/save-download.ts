import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Client } from '../client.ts';
import { download } from '../download.ts';
import type { Called, RequestOf, Route } from '../route.ts';

/** The downloaded bytes differ from the announced size or digest. */
export class WrongBytesError extends Error {
  override readonly name = 'WrongBytesError';
}

export interface SavedFile {
  /** Path of the saved file. */
  path: string;
  size: number;
  /** SHA-256 digest in hexadecimal digits; null if unknown. Then only the size is checked. */
  sha256: string | null;
  onProgress?(bytes: number): void;
  signal?: AbortSignal;
}

async function digestOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return hash.digest('hex');
}

const sizeOf = (path: string): Promise<number | undefined> =>
  stat(path).then(
    (found) => (found.isFile() ? found.size : undefined),
    () => undefined,
  );

/** Return whether the file is already saved, or whether another file or a broken link has its name. */
export async function savedState({
  path,
  size,
  sha256,
}: Pick<SavedFile, 'path' | 'size' | 'sha256'>): Promise<'absent' | 'same' | 'other'> {
  const isThere = await lstat(path).catch(() => undefined);
  if (isThere === undefined) return 'absent';
  const isSame = (await sizeOf(path)) === size && sha256 !== null && (await digestOf(path)) === sha256;
  return isSame ? 'same' : 'other';
}

/**
 * Save a file that an endpoint redirects to. Write it to `<path>.part`, resume an interrupted download from there,
 * and rename it once its SHA-256 is correct. Keep an existing file with the same bytes.
 *
 * @returns whether anything was downloaded
 * @throws WrongBytesError if the bytes differ from the announced ones
 */
export async function saveDownload<E extends Called>(
  client: Client,
  route: Route<E>,
  request: RequestOf<E>,
  { path, size, sha256, onProgress, signal }: SavedFile,
): Promise<boolean> {
  if ((await sizeOf(path)) === size && sha256 !== null && (await digestOf(path)) === sha256) return false;
  await mkdir(dirname(path), { recursive: true });
  const part = `${path}.part`;
  const there = (await sizeOf(part)) ?? 0;
  const from = there <= size ? there : 0;
  const hash = createHash('sha256');
  if (from > 0) for await (const chunk of createReadStream(part)) hash.update(chunk);
  const file = await open(part, from > 0 ? 'a' : 'w');
  try {
    let received = from;
    for await (const chunk of download<E>(client, route, request, {
      size,
      from,
      ...(signal && { signal }),
    })) {
      await file.appendFile(chunk);
      hash.update(chunk);
      received += chunk.length;
      onProgress?.(received);
    }
  } finally {
    await file.close();
  }
  if (sha256 !== null && hash.digest('hex') !== sha256) {
    // A wrong partial file would also break the next download.
    await rm(part, { force: true });
    throw new WrongBytesError(`${path}: the downloaded bytes do not have the promised SHA-256. Try again.`);
  }
  await rename(part, path);
  return true;
}
