import type { FileHandle } from 'node:fs/promises';

/**
 * Read a file that another program may be writing: the bytes that it has now, and none that come meanwhile. A writer that
 * never pauses would keep `readFile` reading.
 *
 * @returns undefined if it has more than `maxBytes`
 */
export async function readAtMost(handle: FileHandle, maxBytes: number): Promise<Buffer | undefined> {
  const { size } = await handle.stat();
  if (size > maxBytes) return undefined;
  const bytes = Buffer.allocUnsafe(size);
  let length = 0;
  while (length < size) {
    const { bytesRead } = await handle.read(bytes, length, size - length, length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return bytes.subarray(0, length);
}
