import { lstat, readdir, readFile, realpath, stat } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import type { Ignore } from 'ignore';
import ignore from 'ignore';
import { type ArchiveLimits, shown } from '../../../shared/archive/archive-error.ts';
import { sourceLimits } from '../../../shared/archive/archive-limits.ts';
import { entryPathFault } from '../../../shared/archive/entry-path.ts';
import { bytesText } from '../../../shared/core/text/bytes-text.ts';
import { CliError, exitCodes } from '../../cli-error.ts';
import { gitTree } from './git-tree.ts';

/**
 * List the files of a source, and what it leaves out. Apply `.gitignore`, and the `.mpsignore` of the source and of
 * the folder in which the command runs.
 *
 * @param sub that folder, relative to the source; '' for the source itself
 */
export async function listFiles(root: string, sub = ''): Promise<ListedFiles> {
  const isIgnored = await ignoring(root, sub, alwaysIgnored);
  const isUnnamed = await ignoring(root, sub, [...alwaysIgnored, ...usuallyIgnored]);
  const known = await gitTree(root);
  const { files, ignored, absent, untracked } = known ?? {
    ...(await walkSource(root, isIgnored)),
    ...{ absent: [], untracked: [] },
  };
  const listed = [...files, ...(await emptyFolders(root, untracked, ignored, isIgnored))].filter(
    (path) => !isIgnored(path),
  );
  return {
    ...byKind(listed),
    ignored: ignored.filter((path) => !isUnnamed(path)),
    absent: absent.filter((path) => !isIgnored(`${path}/`)),
  };
}

/** Paths of a folder, relative to it. Those of folders end with a slash in `ignored`. */
export interface ListedFiles {
  /** Files of the source, sorted. */
  files: string[];
  /** Empty folders of the source, sorted. A program may write into them. */
  folders: string[];
  /**
   * What `.gitignore` leaves out although a program may need it. Packages, caches and names that are always ignored
   * are not named.
   */
  ignored: string[];
  /** Submodules of git that are not checked out. */
  absent: string[];
}

/** Part sorted paths into files and folders, whose slash at the end is dropped. */
function byKind(paths: readonly string[]): { files: string[]; folders: string[] } {
  const sorted = paths.toSorted();
  const folders = sorted.filter((path) => path.endsWith('/')).map((path) => path.slice(0, -1));
  return { files: sorted.filter((path) => !path.endsWith('/')), folders };
}

/** Return the empty folders in folders that git does not track, each with a slash at its end. */
async function emptyFolders(
  root: string,
  untracked: readonly string[],
  ignored: readonly string[],
  isIgnored: Ignores,
): Promise<string[]> {
  const leftOut = ignored.filter((path) => path.endsWith('/'));
  const isLeftOut: Ignores = (path) => isIgnored(path) || leftOut.some((one) => path.startsWith(one));
  const found = await Promise.all(
    untracked.filter((path) => !isLeftOut(path)).map((path) => walk(root, isLeftOut, path)),
  );
  return found.flat().filter((path) => path.endsWith('/'));
}

type Ignores = (path: string) => boolean;

/** Return whether the rules of a source, or of the folder in it in which the command runs, ignore a path. */
async function ignoring(root: string, sub: string, names: readonly string[]): Promise<Ignores> {
  const ofRoot = await rulesOf(root, names);
  if (sub === '') return (path) => ofRoot.ignores(path);
  const ofSub = await rulesOf(join(root, sub), names);
  const prefix = `${sub}/`;
  return (path) =>
    ofRoot.ignores(path) ||
    (path.startsWith(prefix) && path !== prefix && ofSub.ignores(path.slice(prefix.length)));
}

const rulesOf = async (folder: string, names: readonly string[]): Promise<Ignore> =>
  ignore()
    .add([...names])
    .add(await readIgnore(folder, ignoreFile));

/** List a source outside of git. */
async function walkSource(root: string, isIgnored: Ignores): Promise<{ files: string[]; ignored: string[] }> {
  const rules = ignore().add(await readIgnore(root, '.gitignore'));
  const ignored: string[] = [];
  const files = await walk(root, (path) => {
    if (isIgnored(path)) return true;
    const isLeftOut = rules.ignores(path);
    if (isLeftOut) ignored.push(path);
    return isLeftOut;
  });
  return { files, ignored };
}

/** Requirements file in the source, made from a lock file. */
export const lockedRequirements = 'mps-requirements.txt';

/** Paths that are never part of a source: history, packages, caches. */
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
  // `mps run` adds its own version of this file.
  `/${lockedRequirements}`,
  // Folders of `mps pull`, named by an experiment ID.
  `/${'[0-9a-z]'.repeat(26)}/`,
];

const readIgnore = (folder: string, name: string): Promise<string> =>
  readFile(join(folder, name), 'utf8').catch(() => '');

const ignoreFile = '.mpsignore';

/** What editors, tests and builds leave, and no training reads. */
const usuallyIgnored = [
  ...[
    '*.pyc',
    '*.egg-info',
    '*.log',
    '.env',
    '.env.*',
    '.idea',
    '.vscode',
    '.tox',
    '.nox',
    '.coverage',
    'htmlcov',
  ],
  ...[
    'build',
    'dist',
    'wandb',
    'mlruns',
    'lightning_logs',
    'runs',
    'outputs',
    'multirun',
    '.cache',
    '.hypothesis',
  ],
  ...['*.egg', '*.so', '*.o', '*.a', '*.dylib', '*.dll', 'target', '*.tsbuildinfo'],
];

/** List all files below a folder that are not ignored, and its empty folders, each with a slash at its end. */
async function walk(folder: string, isIgnored: Ignores, prefix = ''): Promise<string[]> {
  const entries = await readdir(join(folder, prefix), { withFileTypes: true });
  if (entries.length === 0 && prefix !== '') return [prefix];
  const found: string[] = [];
  for (const entry of entries) {
    const path = `${prefix}${entry.name}`;
    if (isIgnored(entry.isDirectory() ? `${path}/` : path)) continue;
    if (entry.isDirectory()) found.push(...(await walk(folder, isIgnored, `${path}/`)));
    else found.push(path);
  }
  return found;
}

/** List the paths of all files and empty folders below a data folder, except those in its `.mpsignore`. */
export async function listDataFiles(folder: string): Promise<Pick<ListedFiles, 'files' | 'folders'>> {
  const rules = await rulesOf(folder, ['.git', '.DS_Store', ignoreFile]);
  return byKind(await walk(folder, (path) => rules.ignores(path)));
}

export interface SourceFile {
  path: string;
  size: number;
  /** Modification time in milliseconds. A changed time or size means that the file has changed. */
  changed: number;
}

export interface SourceFiles {
  files: SourceFile[];
  /** Empty folders. */
  folders: string[];
  /** Paths that are not uploaded, sorted. */
  leftOut: LeftOutPath[];
}

interface LeftOutPath {
  path: string;
  /** Such as `a link to nothing`. */
  why: string;
  /** Target of a link out of the folder, absolute. */
  target?: string;
}

/** @example leftOutText({ path: 'a', why: 'a link to nothing' }) // 'a: a link to nothing' */
export const leftOutText = ({ path, why }: LeftOutPath): string =>
  `${/[\p{Cc}\ufffd]/u.test(path) ? shown(path) : path}: ${why}`;

/**
 * Read the size and the modification time of each file. Replace a link by its target: a file, or the listed files
 * of a folder. Ignored files stay ignored, even through a link. Leave out paths that no job takes.
 *
 * @param limits what a job takes
 * @throws CliError for more files or bytes than a job takes
 */
export async function inspectFiles(
  folder: string,
  listed: Pick<ListedFiles, 'files' | 'folders'>,
  limits: ArchiveLimits = sourceLimits,
): Promise<SourceFiles> {
  const root = await realpath(folder);
  const known = listedPaths([...listed.files, ...listed.folders]);
  const refused = new Map<string, LeftOutPath>();
  const isTaken = (path: string): boolean => {
    const fault = pathFault(path, limits);
    if (fault !== undefined) refused.set(fault.path, fault);
    return fault === undefined;
  };
  const files: SourceFile[] = [];
  const leftOut: LeftOutPath[] = [];
  const links: FolderLink[] = [];
  for (const one of await inspectAll(root, listed.files.filter(isTaken), (target) => known.has(target))) {
    if (one === undefined) continue;
    if ('why' in one) leftOut.push(one);
    else if ('place' in one) links.push(one);
    else files.push(one);
  }
  const folders = listed.folders.filter(isTaken);
  const linked = linkedFiles(links, files, folders);
  const all = {
    files: [...files, ...linked.files.filter(({ path }) => isTaken(path))].sort((a, b) =>
      a.path < b.path ? -1 : 1,
    ),
    folders: [...folders, ...linked.folders.filter(isTaken)].sort(),
  };
  requireLimits(all, limits);
  const isInRefused = ({ path }: LeftOutPath) => refused.has(path);
  return {
    ...all,
    leftOut: [...leftOut, ...linked.leftOut.filter((one) => !isInRefused(one)), ...refused.values()].sort(
      (a, b) => (leftOutText(a) < leftOutText(b) ? -1 : 1),
    ),
  };
}

/** Return the first folder of a path, or the path, that no job takes; undefined if a job takes all of it. */
function pathFault(path: string, limits: ArchiveLimits): LeftOutPath | undefined {
  const why = entryPathFault(path, limits);
  if (why === undefined) return undefined;
  const names = path.split('/');
  const parents = names.slice(1).map((_, count) => names.slice(0, count + 1).join('/'));
  const first = parents.find((parent) => entryPathFault(parent, limits) !== undefined);
  return first === undefined ? { path, why } : { path: `${first}/`, why };
}

/** @throws CliError for more than a job takes */
function requireLimits(
  { files, folders }: Pick<SourceFiles, 'files' | 'folders'>,
  { maxEntries, maxBytes }: ArchiveLimits,
): void {
  const entries = listedPaths([...files.map(({ path }) => path), ...folders]).size;
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  const faults = [
    ...(entries > maxEntries
      ? [
          `${entries.toLocaleString('en')} files and folders; at most ${maxEntries.toLocaleString('en')} are allowed`,
        ]
      : []),
    ...(bytes > maxBytes ? [`${bytesText(bytes)}; at most ${bytesText(maxBytes)} are allowed`] : []),
  ];
  if (faults.length === 0) return;
  throw new CliError(
    `This folder has ${faults.join(', and ')}. List in .mpsignore what is not needed.`,
    exitCodes.usage,
  );
}

/** Return the listed paths and all their parent folders. */
function listedPaths(paths: readonly string[]): Set<string> {
  const listed = new Set<string>();
  for (const path of paths) {
    for (let one = path; one !== '.' && !listed.has(one); one = dirname(one)) listed.add(one);
  }
  return listed;
}

/** A link to a folder. The source contains the target's files below the link's path. */
interface FolderLink {
  path: string;
  /** Folder that contains the link, and the link's target, both relative to the source's root. */
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

type Inspected = SourceFile | FolderLink | LeftOutPath | undefined;

async function inspect(
  root: string,
  path: string,
  isListed: (target: string) => boolean,
): Promise<Inspected> {
  const found = await lstat(join(root, path)).catch(() => undefined);
  // git still lists deleted files.
  if (found === undefined) return undefined;
  if (found.isDirectory()) return { path, why: 'a separate git repository' };
  if (found.isSymbolicLink()) return inspectLink(root, path, isListed);
  if (!found.isFile()) return { path, why: 'neither a file nor a link' };
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

const containsLink = 'a link to a folder that contains the link';

/** Return whether a path is a folder or lies in it. Paths are relative to the source's root, which is ''. */
const isInside = (place: string, folder: string): boolean =>
  folder === '' || place === folder || place.startsWith(`${folder}/`);

/** Limit of linked files, because links in linked folders can multiply without bound. */
const maxLinked = 100_000;

/** Return the files and empty folders below linked folders, each under the path of its link. */
function linkedFiles(
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
