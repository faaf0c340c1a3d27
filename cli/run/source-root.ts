import { stat } from 'node:fs/promises';
import { relative, resolve, sep } from 'node:path';
import { CliError, exitCodes } from '../cli-error.ts';

/**
 * Return the folder that is sent: the folder of the command, or the one above it that `--root` or `mps.yaml` names.
 *
 * @param given relative to the folder of the command; undefined for that folder itself
 * @returns the absolute path, and the folder of the command in it: '' for the root itself, with `/` between names
 * @throws CliError if it is no folder, or not above the folder of the command
 */
export async function sourceRoot(
  folder: string,
  given: string | undefined,
): Promise<{ root: string; sub: string }> {
  const root = resolve(folder, given ?? '.');
  const refused = (fault: string) =>
    new CliError(
      `root: ${given} ${fault}. It must be a folder above ${folder}, such as "..".`,
      exitCodes.usage,
    );
  if ((await stat(root).catch(() => undefined))?.isDirectory() !== true) throw refused('is no folder');
  const sub = relative(root, folder).replaceAll(sep, '/');
  if (sub === '..' || sub.startsWith('../')) throw refused('does not contain this folder');
  return { root, sub };
}

/** Return the paths below a folder, relative to it. */
export function pathsBelow(paths: readonly string[], sub: string): string[] {
  if (sub === '') return [...paths];
  const prefix = `${sub}/`;
  return paths.filter((path) => path.startsWith(prefix)).map((path) => path.slice(prefix.length));
}
