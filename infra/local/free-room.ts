import { statfs } from 'node:fs/promises';

/**
 * Most bytes of a disk that are kept free. Deletes need no more for their writes, and a disk of today has far
 * more.
 */
const maxKeptBytes = 8 * 1024 * 1024;

/** Bytes that this process may still write to the disk of a folder. Root may also use what is set aside for it. */
export async function freeBytes(folder: string): Promise<number> {
  const { bavail, bfree, bsize } = await statfs(folder);
  return (process.getuid?.() === 0 ? bfree : bavail) * bsize;
}

/** Bytes of the disk of a folder that are kept for deletes: 8 MiB, or an eighth of a disk below 64 MiB. */
export async function keptBytes(folder: string): Promise<number> {
  const { blocks, bsize } = await statfs(folder);
  return Math.min(maxKeptBytes, Math.floor((blocks * bsize) / 8));
}

/** @throws Error with the code `ENOSPC` if the rest of the disk is kept for deletes */
export async function requireRoom(folder: string): Promise<void> {
  if ((await freeBytes(folder)) >= (await keptBytes(folder)) / 2) return;
  throw Object.assign(new Error('The disk is full'), { code: 'ENOSPC' });
}
