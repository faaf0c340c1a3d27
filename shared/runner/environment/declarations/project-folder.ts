import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { EnvironmentError } from '../environment-error.ts';
import { readPyproject } from './pyproject.ts';
import { setupCfgRequirements, setupPyRequirements } from './setup-files.ts';

/** A folder with a Python project, as `pip install -e` takes it. */
export interface ProjectFolder {
  /** The file that declares its requirements. */
  file: string;
  requirements: readonly string[];
  /** Allowed versions of Python, as in `>=3.10`; undefined if the project does not limit them. */
  python: string | undefined;
}

/** Read a file of the folder by its name; undefined if there is none. */
export type ReadDeclaration = (name: string) => Promise<string | undefined>;

/**
 * Read what a project's folder declares for itself, by its first file of `pyproject.toml`, `setup.cfg` and `setup.py`
 * that lists requirements. Its build system is not run: modules are imported from the folder, so a project of compiled
 * modules needs a wheel.
 *
 * @param path the folder in the source, `.` for the source itself
 * @param extras `[a,b]` or blank
 * @throws EnvironmentError `bad-dependencies` for a folder without a project, and for extras that it does not have
 */
export async function readProjectFolder(
  path: string,
  extras: string,
  read: ReadDeclaration,
): Promise<ProjectFolder> {
  const [toml, cfg, py] = await Promise.all(['pyproject.toml', 'setup.cfg', 'setup.py'].map(read));
  const at = (name: string) => (path === '.' ? name : `${path}/${name}`);
  const manifest = toml === undefined ? undefined : readPyproject(toml);
  if (manifest?.requirements !== undefined) {
    const wanted = extras.slice(1, -1).split(',').filter(Boolean);
    const further = wanted.flatMap((extra) => {
      const lines = manifest.extras[extra];
      if (lines === undefined) throw unknownExtra(at('pyproject.toml'), extra, Object.keys(manifest.extras));
      return lines;
    });
    const requirements = [...manifest.requirements, ...further];
    return { file: at('pyproject.toml'), requirements, python: manifest.python };
  }
  const python = manifest?.python;
  const listed = cfg === undefined ? undefined : setupCfgRequirements(cfg);
  if (listed !== undefined) return { file: at('setup.cfg'), requirements: listed, python };
  if (py !== undefined) {
    const literal = setupPyRequirements(py);
    if (literal === undefined && /\binstall_requires\b/.test(py)) throw computed(at('setup.py'));
    return { file: at('setup.py'), requirements: literal ?? [], python };
  }
  if (toml === undefined && cfg === undefined)
    throw refused(`${path}: has no pyproject.toml, setup.cfg or setup.py`);
  return { file: at(toml === undefined ? 'setup.cfg' : 'pyproject.toml'), requirements: [], python };
}

const refused = (message: string): EnvironmentError => new EnvironmentError('bad-dependencies', message);

const computed = (file: string): EnvironmentError =>
  refused(`${file}: computes its install_requires, and is not run. List the packages in requirements.txt.`);

const unknownExtra = (file: string, extra: string, known: readonly string[]): EnvironmentError =>
  refused(
    `${file}: has no extra ${JSON.stringify(extra)}; ${known.length === 0 ? 'it has none' : `it has ${known.join(', ')}`}`,
  );

/**
 * Return the folder that holds the modules of a project: `src` in its src layout, else the project's own folder.
 *
 * @param source absolute folder of the source
 * @param path the project in it, `.` for the source itself
 */
export async function moduleFolder(source: string, path: string): Promise<string> {
  const below = join(path, 'src');
  const isFolder = (await lstat(join(source, below)).catch(() => undefined))?.isDirectory() === true;
  // With this file `src` is itself a package of the project.
  const isPackage = (await lstat(join(source, below, '__init__.py')).catch(() => undefined)) !== undefined;
  return isFolder && !isPackage ? below : path;
}

/** Whether a folder is a Python project, whose modules an installation would make importable. */
export async function isProjectFolder(source: string): Promise<boolean> {
  const found = await Promise.all(
    ['pyproject.toml', 'setup.cfg', 'setup.py'].map((name) =>
      lstat(join(source, name)).catch(() => undefined),
    ),
  );
  return found.some((facts) => facts?.isFile() === true);
}
