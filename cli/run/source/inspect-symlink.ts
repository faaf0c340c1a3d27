import { realpath, stat } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { CliError, exitCodes } from '../../cli-error.ts';
import type { LeftOutPath, SourceFile, SourceFiles } from './source-file.ts';

/** Return the target of a symbolic link in its place, or why the source leaves the link out. @param isListed whether a path is part of the source */
export async function inspectSymlink(
  root: string,
  path: string,
  isListed: (target: string) => boolean,
): Promise<SourceFile | FolderLink | LeftOutPath> {
  const full = join(root, path);
  const real = await realpath(full).catch(() => undefined);
  const found = real === undefined ? undefined : await stat(real).catch(() => undefined);
  const refused = (why: string): LeftOutPath => ({ path, why });
  if (real === undefined || found === undefined) return refused('a link to nothing');
  const pathInRoot = (place: string) => relative(root, place).replaceAll(sep, '/');
  const target = pathInRoot(real);
  if (target === '..' || target.startsWith('../'))
    return { ...refused('a link out of the folder'), target: real };
  if (!found.isFile() && !found.isDirectory()) return refused('a link to neither a file nor a folder');
  const place = pathInRoot(await realpath(dirname(full)));
  if (found.isDirectory() && isInside(place, target)) return refused(containsLink);
  if (!isListed(target)) return refused(`a link to ${target}, which is ignored`);
  return found.isFile() ? { path, size: found.size, changed: found.mtimeMs } : { path, place, target };
}

/** A link to a folder. The source contains the target's files below the link's path. */
export interface FolderLink {
  path: string;
  /** Folder that contains the link, and the link's target, both relative to the source's root. */
  place: string;
  target: string;
}

const containsLink = 'a link to a folder that contains the link';

/** Return whether a path is a folder or lies in it. Paths are relative to the source's root, which is ''. */
const isInside = (place: string, folder: string): boolean =>
  folder === '' || place === folder || place.startsWith(`${folder}/`);

/** Limit of linked files, because links in linked folders can multiply without bound. */
const maxLinked = 100_000;

/** Return the files and empty folders below linked folders, each under the path of its link. */
export function linkedFiles(
  links: readonly FolderLink[],
  listed: readonly SourceFile[],
  empty: readonly string[],
): SourceFiles {
  const files: SourceFile[] = [];
  const folders: string[] = [];
  const leftOut: LeftOutPath[] = [];
  let steps = 0;
  const follow = ({ path: link, target }: FolderLink, places: readonly string[]): void => {
    const moved = (path: string) => `${link}/${path.slice(target.length + 1)}`.replace(/\/$/, '');
    const below = listed.filter(({ path }) => isInside(path, target));
    files.push(...below.map((file) => ({ ...file, path: moved(file.path) })));
    folders.push(...empty.filter((path) => isInside(path, target)).map(moved));
    steps += below.length + 1;
    if (steps > maxLinked) throw tooMany();
    for (const inner of links.filter(({ path }) => isInside(path, target))) {
      const path = moved(inner.path);
      const within = [...places, inner.place];
      if (within.some((place) => isInside(place, inner.target))) leftOut.push({ path, why: containsLink });
      else follow({ ...inner, path }, within);
    }
  };
  for (const link of links) follow(link, [link.place]);
  return { files, folders, leftOut };
}

const tooMany = (): CliError =>
  new CliError(
    `The links in this folder lead to more than ${maxLinked.toLocaleString('en')} files. List in .mpsignore the ones that are not needed.`,
    exitCodes.usage,
  );
