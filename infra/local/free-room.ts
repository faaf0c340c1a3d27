import { statfs } from 'node:fs/promises';

/**
 * Upper limit of the disk space that is kept free, in bytes. Deletes need no more for their writes, and current
 * disks have far more.
 */
const maxKeptBytes = 8 * 1024 * 1024;

/**
 * Return the bytes that this process may still write to the disk of a folder. Root may also use the space reserved
 * for it.
 */
export async function freeBytes(folder: string): Promise<number> {
  const { bavail, bfree, bsize } = await statfs(folder);
  return (process.getuid?.() === 0 ? bfree : bavail) * bsize;
}

/** Return the bytes of a folder's disk that are kept for deletes: 8 MiB, or an eighth of a disk below 64 MiB. */
export async function keptBytes(folder: string): Promise<number> {
  const { blocks, bsize } = await statfs(folder);
  return Math.min(maxKeptBytes, Math.floor((blocks * bsize) / 8));
}

/** @throws Error with the code `ENOSPC` if the rest of the disk is kept for deletes */
export async function requireRoom(folder: string): Promise<void> {
  if ((await freeBytes(folder)) >= (await keptBytes(folder)) / 2) return;
  throw Object.assign(new Error('The disk is full'), { code: 'ENOSPC' });
}
