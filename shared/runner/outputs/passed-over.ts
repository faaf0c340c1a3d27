import { lstat } from 'node:fs/promises';
import { join } from 'node:path';

/** Whether the search for outputs skips this folder. `place` is its path for system calls. */
export async function passesOver(path: string, place: string): Promise<boolean> {
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (passedOver.has(name) || name.endsWith('.egg-info')) return true;
  if (path.endsWith('.dvc/cache') || path.endsWith('.dvc/tmp')) return true;
  for (const mark of environmentMarks) if (await exists(join(place, mark))) return true;
  return false;
}

/** Folders of histories, packages and caches, which a program makes by the way. */
const passedOver = new Set([
  '.git',
  '.hg',
  '.svn',
  '__pycache__',
  'node_modules',
  '.venv',
  'venv',
  '.cache',
  '.mypy_cache',
  '.pytest_cache',
  '.ruff_cache',
  '.ipynb_checkpoints',
  '.eggs',
  '.tox',
  '.nox',
  '.npm',
]);

/** Files that mark a folder as an environment of packages. */
const environmentMarks = ['pyvenv.cfg', 'conda-meta'];

const exists = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  );
