import { lstat, stat } from 'node:fs/promises';
import { CliError, exitCodes } from '../cli-error.ts';

/** More files than these are counted. */
const maxNamed = 5;

/** Whether the path is taken, also by a broken link. */
const isTaken = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  );

const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );

/** The error that tells which files would be replaced. */
export function replacedError(paths: readonly string[], undone: string): CliError {
  const more = paths.length - maxNamed;
  const names = paths.slice(0, maxNamed).join(', ') + (more > 0 ? ` and ${more} more` : '');
  const [are, them] = paths.length === 1 ? ['is', 'it'] : ['are', 'them'];
  return new CliError(
    `${names} ${are} there already; ${undone}. Save it elsewhere by --to, or replace ${them} by --force.`,
    exitCodes.usage,
  );
}

/**
 * Makes sure that files may be written: what a person has is replaced only where they say so.
 *
 * @param paths absolute
 * @param undone what has not been done, in words
 * @throws CliError where a file is there already, or a folder is
 */
export async function refuseReplacing(
  paths: readonly string[],
  { force = false, undone }: { force?: boolean | undefined; undone: string },
): Promise<void> {
  const taken: string[] = [];
  for (const path of paths) {
    if (await isFolder(path))
      throw new CliError(`${path} is a folder; ${undone}. Give the name of a file in it.`, exitCodes.usage);
    if (await isTaken(path)) taken.push(path);
  }
  if (taken.length > 0 && !force) throw replacedError(taken, undone);
}
