import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import ignore, { type Ignore } from 'ignore';
import { lockedRequirements } from './python-environment.ts';

const execute = promisify(execFile);

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
const ignoreFile = '.mpsignore';

const readIgnore = (folder: string, name: string): Promise<string> =>
  readFile(join(folder, name), 'utf8').catch(() => '');

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

/** Paths of all files below a folder of data, sorted, but for what its `.mpsignore` names. */
export async function listDataFiles(folder: string): Promise<string[]> {
  const rules = ignore()
    .add(['.git', '.DS_Store', ignoreFile])
    .add(await readIgnore(folder, ignoreFile));
  return (await walk(folder, rules)).sort();
}
