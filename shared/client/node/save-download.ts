import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Client } from '../client.ts';
import { ProblemError } from '../problem-error.ts';
import { wait } from '../retry.ts';
import type { Called, RequestOf, Route } from '../route.ts';
import { UnreachableError } from '../unreachable-error.ts';

interface SavedFile {
  /** Path of the saved file. */
  path: string;
  size: number;
  /** SHA-256 digest in hexadecimal digits; null if unknown. Then only the size is checked. */
  sha256: string | null;
  onProgress?(bytes: number): void;
  signal?: AbortSignal;
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
    throw new WrongBytesError(`${path}: the downloaded bytes do not match their SHA-256. Try again.`);
  }
  await rename(part, path);
  return true;
}

const sizeOf = (path: string): Promise<number | undefined> =>
  stat(path).then(
    (found) => (found.isFile() ? found.size : undefined),
    () => undefined,
  );

async function digestOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return hash.digest('hex');
}

interface DownloadOptions {
  /** Size of the file in bytes. */
  size: number;
  /** Bytes that the caller already has. */
  from?: number;
  signal?: AbortSignal;
}

/** Most connections in a row that may fail without a single byte. */
const maxFruitless = 6;

/**
 * Yield the bytes of a file, starting at `from`. Resume a lost connection with a fresh URL, because presigned URLs
 * expire after minutes. The caller checks that the bytes are correct.
 *
 * @throws UnreachableError if the connection fails too often in a row
 */
async function* download<E extends Called>(
  client: Client,
  route: Route<E>,
  request: RequestOf<E>,
  { size, from = 0, signal }: DownloadOptions,
): AsyncGenerator<Uint8Array> {
  let received = from;
  let fruitless = 0;
  while (received < size) {
    const before = received;
    try {
      const headers = received === 0 ? {} : { Range: `bytes=${received}-` };
      const response = await client.open<E>(route, {
        ...request,
        headers,
        ...(signal !== undefined && { signal }),
      });
      // Storage that ignores the range starts at byte 0, so skip the bytes already received.
      let skip = response.status === 206 ? 0 : received;
      for await (const chunk of response.body ?? []) {
        const fresh = chunk.subarray(Math.min(skip, chunk.length));
        skip -= chunk.length - fresh.length;
        received += fresh.length;
        if (fresh.length > 0) yield fresh;
      }
      if (received === before) throw new Error(`the file ends after ${received} of ${size} bytes`);
    } catch (error) {
      if (signal?.aborted === true || error instanceof ProblemError) throw error;
      fruitless = received > before ? 0 : fruitless + 1;
      if (fruitless === maxFruitless)
        throw error instanceof UnreachableError ? error : new UnreachableError(client.url, error);
      await wait(250 * 2 ** fruitless, signal);
    }
  }
}

/** The downloaded bytes differ from the announced size or digest. */
export class WrongBytesError extends Error {
  override readonly name = 'WrongBytesError';
}

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
