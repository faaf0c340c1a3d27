import { lstat, realpath, stat } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { CliError, exitCodes } from '../cli-error.ts';

export interface SourceFile {
  path: string;
  size: number;
  /** Milliseconds; with the size it tells whether the file has changed. */
  changed: number;
}

export interface SourceFiles {
  files: SourceFile[];
  /** What is not taken along, and why. */
  leftOut: string[];
}

/** A link to a folder: the files below it are those below its target. */
interface FolderLink {
  path: string;
  /** Both from the root of the source, with its own separator. */
  place: string;
  target: string;
}

type Inspected = SourceFile | FolderLink | string | undefined;

/** How many files are looked at at a time. */
const atOnce = 64;
/** Links to folders that hold links to folders can lead to any number of files. */
const maxLinked = 100_000;

async function inspectLink(
  root: string,
  path: string,
  isListed: (target: string) => boolean,
): Promise<Inspected> {
  const full = join(root, path);
  const real = await realpath(full).catch(() => undefined);
  const found = real === undefined ? undefined : await stat(real).catch(() => undefined);
  if (real === undefined || found === undefined) return `${path}: a link to nothing`;
  const pathInRoot = (place: string) => relative(root, place).replaceAll(sep, '/');
  const target = pathInRoot(real);
  if (target === '..' || target.startsWith('../')) return `${path}: a link out of the folder`;
  if (!found.isFile() && !found.isDirectory()) return `${path}: a link to neither a file nor a folder`;
  const place = pathInRoot(await realpath(dirname(full)));
  if (found.isDirectory() && isInside(place, target)) return `${path}: a link to a folder that it lies in`;
  if (!isListed(target)) return `${path}: a link to ${target}, which is ignored`;
  return found.isFile() ? { path, size: found.size, changed: found.mtimeMs } : { path, place, target };
}

async function inspect(
  root: string,
  path: string,
  isListed: (target: string) => boolean,
): Promise<Inspected> {
  const found = await lstat(join(root, path)).catch(() => undefined);
  // git still lists what was deleted.
  if (found === undefined) return undefined;
  if (found.isDirectory()) return `${path}: a repository of its own`;
  if (found.isSymbolicLink()) return inspectLink(root, path, isListed);
  if (!found.isFile()) return `${path}: neither a file nor a link`;
  return { path, size: found.size, changed: found.mtimeMs };
}

/** Whether a place is a folder or lies in it; paths from the root of the source, which is ''. */
const isInside = (place: string, folder: string): boolean =>
  folder === '' || place === folder || place.startsWith(`${folder}/`);

async function inspectAll(
  root: string,
  paths: readonly string[],
  isListed: (target: string) => boolean,
): Promise<Inspected[]> {
  const inspected: Inspected[] = [];
  for (let at = 0; at < paths.length; at += atOnce) {
    const some = paths.slice(at, at + atOnce);
    inspected.push(...(await Promise.all(some.map((path) => inspect(root, path, isListed)))));
  }
  return inspected;
}

/** What is listed, with the folders of it. */
function listedPaths(paths: readonly string[]): Set<string> {
  const listed = new Set<string>();
  for (const path of paths) {
    for (let one = path; one !== '.' && !listed.has(one); one = dirname(one)) listed.add(one);
  }
  return listed;
}

/**
 * Size and time of each file. A link counts as what it leads to: a file, or the files of a folder that are listed; what
 * is ignored stays so by any link.
 * @throws CliError where links lead to more files than a source may have
 */
export async function inspectFiles(folder: string, paths: readonly string[]): Promise<SourceFiles> {
  const root = await realpath(folder);
  const listed = listedPaths(paths);
  const files: SourceFile[] = [];
  const leftOut: string[] = [];
  const links: FolderLink[] = [];
  for (const one of await inspectAll(root, paths, (target) => listed.has(target))) {
    if (typeof one === 'string') leftOut.push(one);
    else if (one !== undefined && 'target' in one) links.push(one);
    else if (one !== undefined) files.push(one);
  }
  if (links.length === 0) return { files, leftOut };
  const linked = linkedFiles(links, files);
  return {
    files: [...files, ...linked.files].sort((a, b) => (a.path < b.path ? -1 : 1)),
    leftOut: [...leftOut, ...linked.leftOut].sort(),
  };
}

/** The files that lie below links to folders, each under the path of its link. */
function linkedFiles(links: readonly FolderLink[], listed: readonly SourceFile[]): SourceFiles {
  const files: SourceFile[] = [];
  const leftOut: string[] = [];
  let steps = 0;
  const follow = ({ path: link, target }: FolderLink, places: readonly string[]): void => {
    const moved = (path: string) => `${link}/${path.slice(target.length + 1)}`;
    const below = listed.filter(({ path }) => isInside(path, target));
    files.push(...below.map((file) => ({ ...file, path: moved(file.path) })));
    steps += below.length + 1;
    if (steps > maxLinked) throw tooMany();
    for (const inner of links.filter(({ path }) => isInside(path, target))) {
      const path = moved(inner.path);
      const within = [...places, inner.place];
      if (within.some((place) => isInside(place, inner.target)))
        leftOut.push(`${path}: a link to a folder that it lies in`);
      else follow({ ...inner, path }, within);
    }
  };
  for (const link of links) follow(link, [link.place]);
  return { files, leftOut };
}

const tooMany = (): CliError =>
  new CliError(
    `The links in this folder lead to more than ${maxLinked.toLocaleString('en')} files. List those in .mpsignore that are not needed.`,
    exitCodes.usage,
  );
