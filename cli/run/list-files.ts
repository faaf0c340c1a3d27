import { execFile } from 'node:child_process';
import { lstat, readdir, readFile, realpath, stat } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { promisify } from 'node:util';
import type { Ignore } from 'ignore';
import ignore from 'ignore';
import { CliError, exitCodes } from '../cli-error.ts';

/** Paths of the files that make up a folder's source, sorted: what `.gitignore` and `.mpsignore` admit. */
export async function listFiles(folder: string): Promise<string[]> {
  const rules = ignore()
    .add(alwaysIgnored)
    .add(await readIgnore(folder, ignoreFile));
  const known = await gitFiles(folder);
  if (known !== undefined) return known.filter((path) => !rules.ignores(path)).sort();
  rules.add(await readIgnore(folder, '.gitignore'));
  return (await walk(folder, rules)).sort();
}

/** The file of requirements that a lock file becomes, as part of the source. */
export const lockedRequirements = 'mps-requirements.txt';

/** Never part of a source, whatever else is said: history, packages, caches. */
const alwaysIgnored = [
  '.git',
  'node_modules',
  '__pycache__',
  '.venv',
  'venv',
  '.mypy_cache',
  '.pytest_cache',
  '.ruff_cache',
  '.ipynb_checkpoints',
  '.DS_Store',
  '.mps',
  // What `mps run` makes of a lock file takes its place.
  `/${lockedRequirements}`,
  // What `mps pull` has fetched: a folder with the id of its experiment.
  `/${'[0-9a-z]'.repeat(26)}/`,
];

const readIgnore = (folder: string, name: string): Promise<string> =>
  readFile(join(folder, name), 'utf8').catch(() => '');

const ignoreFile = '.mpsignore';

const execute = promisify(execFile);

/** The folder's files as git knows them: tracked ones and those that `.gitignore` admits; undefined outside of git. */
async function gitFiles(folder: string): Promise<string[] | undefined> {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--deduplicate'];
  try {
    const { stdout } = await execute('git', args, { cwd: folder, maxBuffer: 1 << 28 });
    return stdout.split('\0').filter((path) => path !== '');
  } catch {
    return undefined;
  }
}

/** All files below a folder, as far as the rules admit them. */
async function walk(folder: string, rules: Ignore, prefix = ''): Promise<string[]> {
  const entries = await readdir(join(folder, prefix), { withFileTypes: true });
  const found: string[] = [];
  for (const entry of entries) {
    const path = `${prefix}${entry.name}`;
    if (rules.ignores(entry.isDirectory() ? `${path}/` : path)) continue;
    if (entry.isDirectory()) found.push(...(await walk(folder, rules, `${path}/`)));
    else found.push(path);
  }
  return found;
}

/** Paths of all files below a folder of data, sorted, but for what its `.mpsignore` names. */
export async function listDataFiles(folder: string): Promise<string[]> {
  const rules = ignore()
    .add(['.git', '.DS_Store', ignoreFile])
    .add(await readIgnore(folder, ignoreFile));
  return (await walk(folder, rules)).sort();
}

export interface SourceFile {
  path: string;
  size: number;
  /** Milliseconds; with the size it tells whether the file has changed. */
  changed: number;
}

export interface SourceFiles {
  files: SourceFile[];
  /** Paths that are not uploaded, each with the reason. */
  leftOut: string[];
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

/** What is listed, with the folders of it. */
function listedPaths(paths: readonly string[]): Set<string> {
  const listed = new Set<string>();
  for (const path of paths) {
    for (let one = path; one !== '.' && !listed.has(one); one = dirname(one)) listed.add(one);
  }
  return listed;
}

/** A link to a folder: the files below it are those below its target. */
interface FolderLink {
  path: string;
  /** Both from the root of the source, with its own separator. */
  place: string;
  target: string;
}

/** Files to inspect concurrently. */
const atOnce = 64;

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

type Inspected = SourceFile | FolderLink | string | undefined;

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

/** Whether a place is a folder or lies in it; paths from the root of the source, which is ''. */
const isInside = (place: string, folder: string): boolean =>
  folder === '' || place === folder || place.startsWith(`${folder}/`);

/** Links to folders that hold links to folders can lead to any number of files. */
const maxLinked = 100_000;

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
