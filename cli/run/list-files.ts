import { execFile } from 'node:child_process';
import { lstat, readdir, readFile, realpath, stat } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { promisify } from 'node:util';
import type { Ignore } from 'ignore';
import ignore from 'ignore';
import { CliError, exitCodes } from '../cli-error.ts';

/** List the paths of a folder's source files, sorted. Apply `.gitignore` and `.mpsignore`. */
export async function listFiles(folder: string): Promise<string[]> {
  const rules = ignore()
    .add(alwaysIgnored)
    .add(await readIgnore(folder, ignoreFile));
  const known = await gitFiles(folder);
  if (known !== undefined) return known.filter((path) => !rules.ignores(path)).sort();
  rules.add(await readIgnore(folder, '.gitignore'));
  return (await walk(folder, rules)).sort();
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

const execute = promisify(execFile);

/**
 * List the folder's files with git: tracked files, and untracked files outside of `.gitignore`; undefined outside
 * of git.
 */
async function gitFiles(folder: string): Promise<string[] | undefined> {
  const listed = async (...args: string[]): Promise<string[]> => {
    const { stdout } = await execute('git', ['ls-files', '-z', ...args], { cwd: folder, maxBuffer: 1 << 28 });
    return stdout.split('\0').filter((path) => path !== '');
  };
  try {
    // git lists files of checked-out submodules only together with the tracked ones.
    const [tracked, others] = await Promise.all([
      listed('--cached', '--recurse-submodules'),
      listed('--others', '--exclude-standard'),
    ]);
    return [...new Set([...tracked, ...others])];
  } catch {
    return undefined;
  }
}

/**
 * List the files and folders that `.gitignore` leaves out of a source, although a program may need them. Packages,
 * caches and names that are always ignored are excluded. Empty outside of git.
 */
export async function ignoredByGit(folder: string): Promise<IgnoredPath[]> {
  const rules = ignore()
    .add(alwaysIgnored)
    .add(usuallyIgnored)
    .add(await readIgnore(folder, ignoreFile));
  const args = ['ls-files', '-z', '--others', '--ignored', '--exclude-standard', '--directory'];
  const { stdout } = await execute('git', args, { cwd: folder, maxBuffer: 1 << 24 }).catch(() => ({
    stdout: '',
  }));
  const paths = stdout.split('\0').filter((path) => path !== '' && !rules.ignores(path));
  return Promise.all(paths.slice(0, maxIgnored).map((path) => measureIgnored(folder, path)));
}

/** A file that is left out, or a folder, whose path ends with a slash. */
export interface IgnoredPath {
  path: string;
  files: number;
  bytes: number;
  /** Whether it has more files than were counted. */
  isMore: boolean;
}

/** Ignored paths to measure, and files to count in each of them. */
const maxIgnored = 20;
const maxCounted = 2_000;

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
];

async function measureIgnored(folder: string, path: string): Promise<IgnoredPath> {
  const found = { path, files: 0, bytes: 0, isMore: false };
  const measure = async (place: string): Promise<void> => {
    if (found.files >= maxCounted) {
      found.isMore = true;
      return;
    }
    const facts = await lstat(place).catch(() => undefined);
    if (facts?.isFile() === true) {
      found.files += 1;
      found.bytes += facts.size;
    }
    if (facts?.isDirectory() !== true) return;
    for (const name of await readdir(place).catch(() => [])) await measure(join(place, name));
  };
  await measure(join(folder, path));
  return found;
}

/** List all files below a folder that the rules do not ignore. */
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

/** List the paths of all files below a data folder, sorted, except those in its `.mpsignore`. */
export async function listDataFiles(folder: string): Promise<string[]> {
  const rules = ignore()
    .add(['.git', '.DS_Store', ignoreFile])
    .add(await readIgnore(folder, ignoreFile));
  return (await walk(folder, rules)).sort();
}

export interface SourceFile {
  path: string;
  size: number;
  /** Modification time in milliseconds. A changed time or size means that the file has changed. */
  changed: number;
}

export interface SourceFiles {
  files: SourceFile[];
  /** Messages about paths that are not uploaded, each with the reason. */
  leftOut: string[];
}

/**
 * Read the size and the modification time of each file. Replace a link by its target: a file, or the listed files
 * of a folder. Ignored files stay ignored, even through a link.
 *
 * @throws CliError if links lead to more files than a source may have
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

type Inspected = SourceFile | FolderLink | string | undefined;

async function inspect(
  root: string,
  path: string,
  isListed: (target: string) => boolean,
): Promise<Inspected> {
  const found = await lstat(join(root, path)).catch(() => undefined);
  // git still lists deleted files.
  if (found === undefined) return undefined;
  if (found.isDirectory()) return `${path}: a separate git repository`;
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
  if (found.isDirectory() && isInside(place, target))
    return `${path}: a link to a folder that contains the link`;
  if (!isListed(target)) return `${path}: a link to ${target}, which is ignored`;
  return found.isFile() ? { path, size: found.size, changed: found.mtimeMs } : { path, place, target };
}

/** Return whether a path is a folder or lies in it. Paths are relative to the source's root, which is ''. */
const isInside = (place: string, folder: string): boolean =>
  folder === '' || place === folder || place.startsWith(`${folder}/`);

/** Limit of linked files, because links in linked folders can multiply without bound. */
const maxLinked = 100_000;

/** Return the files below linked folders, each under the path of its link. */
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
        leftOut.push(`${path}: a link to a folder that contains the link`);
      else follow({ ...inner, path }, within);
    }
  };
  for (const link of links) follow(link, [link.place]);
  return { files, leftOut };
}

const tooMany = (): CliError =>
  new CliError(
    `The links in this folder lead to more than ${maxLinked.toLocaleString('en')} files. List in .mpsignore the ones that are not needed.`,
    exitCodes.usage,
  );
