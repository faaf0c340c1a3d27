import type { Client } from './client.ts';
import { ProblemError } from './problem-error.ts';
import { wait } from './retry.ts';
import type { Called, RequestOf, Route } from './route.ts';
import { UnreachableError } from './unreachable-error.ts';

export interface DownloadOptions {
  /** Bytes of the file. */
  size: number;
  /** How many of them the caller has already. */
  from?: number;
  signal?: AbortSignal;
}

/** How often in a row a connection may be lost without a single byte. */
const maxFruitless = 6;

/**
 * The bytes of a file from `from` on. A lost connection is resumed where it broke, by a fresh address, because those that
 * storage signs live for minutes only. Whether these are the right bytes is for the caller to check.
 *
 * @throws UnreachableError when the connection is lost again and again
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
      // Storage without ranges begins again: what is there already is skipped.
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
