import type { Client } from './client.ts';
import { ProblemError } from './problem-error.ts';
import { wait } from './retry.ts';
import type { Called, RequestOf, Route } from './route.ts';
import { UnreachableError } from './unreachable-error.ts';

export interface DownloadOptions {
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
export async function* download<E extends Called>(
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
