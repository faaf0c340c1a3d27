import { existsSync } from 'node:fs';
import { copyFile, glob, mkdir, rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { runProgram, succeeds } from '../run-program.ts';

const suite = 'trixie';

/** Certificate authorities of this machine's own, behind which package registries may stand. */
async function bringAuthorities(root: string): Promise<void> {
  const folder = join(root, 'usr/local/share/ca-certificates');
  for await (const file of glob('/usr/local/share/ca-certificates/*.crt')) {
    await copyFile(file, join(folder, basename(file)));
  }
  runProgram('chroot', [root, 'update-ca-certificates']);
}

/**
 * The root file system of a small Debian, as the base images of containers hold one: built by debootstrap from
 * Debian's packages, once, and kept in `cache`.
 */
export async function debianRoot(cache: string): Promise<string> {
  const folder = join(cache, suite);
  if (existsSync(folder)) return folder;
  if (!succeeds('debootstrap', ['--version'])) {
    throw new Error('Without an image registry the stand-in for the base image needs debootstrap, and root.');
  }
  await mkdir(cache, { recursive: true });
  const unfinished = `${folder}.${process.pid}`;
  try {
    runProgram('debootstrap', ['--variant=minbase', '--include=ca-certificates', suite, unfinished]);
    await bringAuthorities(unfinished);
    await rename(unfinished, folder);
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
  return folder;
}
