import type { FileHandle } from 'node:fs/promises';

const blockBytes = 1 << 18;

/**
 * Yield a part of a file, block by block. All blocks share one buffer to avoid garbage: each block is valid only
 * until the next one is requested.
 *
 * @throws Error if the file ends too early
 */
export async function* readBlocks(
  file: FileHandle,
  { start = 0, size, signal }: { start?: number; size: number; signal?: AbortSignal | undefined },
): AsyncGenerator<Buffer> {
  const buffer = Buffer.allocUnsafe(Math.max(1, Math.min(blockBytes, size)));
  for (let read = 0; read < size; ) {
    signal?.throwIfAborted();
    const { bytesRead } = await file.read(buffer, 0, Math.min(buffer.length, size - read), start + read);
    if (bytesRead === 0) throw new Error('the file became shorter while it was read');
    read += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}
