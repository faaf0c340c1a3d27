import { realpath, stat } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { quoteCommand } from '../../../shared/command/quote-command.ts';
import type { ProjectFile } from '../../../shared/config/project-file.ts';
import { CliError, exitCodes } from '../../cli-error.ts';
import { isTaken } from '../../output/save-text.ts';

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

/**
 * Return the folder that is sent, as {@link sourceRoot} does, and the configuration that is named. The user's flags may
 * name any; what a file of the project names must be the project's own.
 *
 * @throws CliError if it is not, or if there is no such root
 */
export async function chosenPlaces(
  folder: string,
  { root: given, config, declaredConfig }: GivenPlaces,
  projectFile: Pick<ProjectFile, 'root' | 'config'>,
): Promise<{ root: string; sub: string; config: string | undefined }> {
  const { root, sub } = await sourceRoot(folder, given ?? projectFile.root);
  if (given === undefined && projectFile.root !== undefined) await requireOwnRoot(folder, projectFile.root);
  if (config !== undefined) return { root, sub, config };
  const { by, path } = declaredConfig ?? { by: 'mps.yaml', path: projectFile.config };
  if (path !== undefined) await requireOwnConfig({ root, folder, by }, path);
  return { root, sub, config: path };
}

/** Places that a command names. */
export interface GivenPlaces {
  /** Folder above that is sent; see {@link sourceRoot}. */
  root?: string;
  config?: string;
  /** A configuration that another file than mps.yaml names, and that file. */
  declaredConfig?: { by: string; path: string };
}

/**
 * Refuse a root that `mps.yaml` names out of the folder's git repository. A stranger's project could otherwise send what
 * lies beside it, and its program could send that on.
 *
 * @throws CliError that says which flag sends it
 */
export async function requireOwnRoot(folder: string, given: string): Promise<void> {
  const [here, root] = await Promise.all([realpath(folder), realpath(resolve(folder, given))]);
  let top = here;
  while (!(await isTaken(join(top, '.git'))) && top !== dirname(top)) top = dirname(top);
  const isOwn = root === here || ((await isTaken(join(top, '.git'))) && isWithin(root, top));
  if (isOwn) return;
  throw new CliError(
    `mps.yaml: root ${given} is ${root}, which is no part of a git repository with this folder. If all of it may be sent: ${quoteCommand(['mps', 'run', '--root', given])}`,
    exitCodes.usage,
  );
}

/**
 * Refuse a configuration that a file of the project names out of what is sent.
 *
 * @param by the file that names it, such as `mps.yaml`
 * @throws CliError that says which flag takes it
 */
export async function requireOwnConfig(
  { root, folder, by }: { root: string; folder: string; by: string },
  given: string,
): Promise<void> {
  const path = await realpath(resolve(folder, given)).catch(() => undefined);
  // One that is not there has its own message.
  if (path === undefined || isWithin(path, await realpath(root))) return;
  throw new CliError(
    `${by}: config ${given} is ${path}, which is not in the folder that is sent. If it may be: ${quoteCommand(['-c', given])}`,
    exitCodes.usage,
  );
}

/** Whether a path is a folder or lies in it. Both are absolute. */
export const isWithin = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);

/** Return the paths below a folder, relative to it. */
export function pathsBelow(paths: readonly string[], sub: string): string[] {
  if (sub === '') return [...paths];
  const prefix = `${sub}/`;
  return paths.filter((path) => path.startsWith(prefix)).map((path) => path.slice(prefix.length));
}
