import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Ignore } from 'ignore';
import ignore from 'ignore';
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
  // What `mps ci` leaves: a report of the run before, and a compressed model.
  ...['md', 'json', 'svg', 'onnx', 'onnx.*', 'receipt.*'].map((ending) => `/mps-ci.${ending}`),
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
