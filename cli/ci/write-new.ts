import { constants, copyFile, rm, writeFile } from 'node:fs/promises';

/** Write a file of its own: a checkout may have a link to somewhere else in its place. */
export async function writeNew(path: string, content: string | Uint8Array): Promise<void> {
  await rm(path, { force: true });
  await writeFile(path, content, { flag: 'wx' });
}

/** The same with the content of another file, which may be larger than the memory. */
export async function copyNew(from: string, path: string): Promise<void> {
  await rm(path, { force: true });
  await copyFile(from, path, constants.COPYFILE_EXCL);
}
