import type { FileHandle } from 'node:fs/promises';

const blockBytes = 1 << 18;

/**
 * A part of a file, block after block. All blocks are one buffer, so that a large file makes no garbage: a block is good
 * until the next one is asked for.
 *
 * @throws Error where the file ends before
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
