import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { withGit } from '../run/source/git.ts';

/**
 * Return a digest of what a folder is: the first commits of its git repository, else the folder itself, and the content of
 * its `mps.yaml`. A program that is unpacked at the path of another one has another digest.
 */
export async function folderIdentity(folder: string): Promise<string> {
  const firstCommits = withGit(folder, (git) => git('rev-list', '--max-parents=0', 'HEAD'));
  const repository = await firstCommits.catch(async () => {
    const { dev, ino, birthtimeMs } = await stat(folder);
    return `${dev} ${ino} ${birthtimeMs}`;
  });
  const declaration = await readFile(join(folder, 'mps.yaml'), 'utf8').catch(() => '');
  return createHash('sha256')
    .update(JSON.stringify([repository, declaration]))
    .digest('hex');
}
