import type { FileHandle } from 'node:fs/promises';
import { FileRefusedError } from '../host/growing-file.ts';

/** Smaller files are stored with their zeros. */
const smallBytes = 100_000_000;
/** A file with less than this share of its bytes on disk is sparse; what a file system compresses has more. */
const minShare = 1 / 10;
/** Unit of `blocks` on every file system. */
const blockBytes = 512;

/**
 * Refuse a large file that is almost all holes: it takes no room on the disk, and would be read, sent and paid for as
 * zeros.
 * @throws FileRefusedError
 */
export async function refuseSparse(handle: FileHandle): Promise<void> {
  const isSparse = async () => {
    const { size, blocks } = await handle.stat();
    return size > smallBytes && blocks * blockBytes < size * minShare;
  };
  if (!(await isSparse())) return;
  // Some file systems assign blocks only once the data is written back.
  await handle.datasync();
  if (!(await isSparse())) return;
  const { size, blocks } = await handle.stat();
  throw new FileRefusedError(`it is sparse: of its ${size} bytes ${blocks * blockBytes} are on the disk`);
}
