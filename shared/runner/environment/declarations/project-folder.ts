import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { normalName } from '../dependencies/python-requirements.ts';
import { EnvironmentError } from '../environment-error.ts';
import type { PythonCondition } from '../install/python-version.ts';
import { placedRequirements } from './package-places.ts';
import { readPyproject } from './pyproject.ts';
import { readPythonCondition } from './python-condition.ts';
import type { Workspace } from './read-workspace.ts';
import { readSetupCfg, readSetupPy, type SetupFile } from './setup-files.ts';

/** A folder with a Python project, as `pip install -e` takes it. */
export interface ProjectFolder {
  /** The file that declares its requirements. */
  file: string;
  requirements: readonly string[];
  /** Undefined if the project does not limit the versions of Python. */
  python: PythonCondition | undefined;
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
 * @param workspace reads the project's uv workspace
 * @throws EnvironmentError `bad-dependencies` for a folder without a project, and for extras that it does not have
 */
export async function readProjectFolder(
  path: string,
  extras: string,
  read: ReadDeclaration,
  workspace: () => Promise<Workspace>,
): Promise<ProjectFolder> {
  const [toml, cfg, py] = await Promise.all(['pyproject.toml', 'setup.cfg', 'setup.py'].map(read));
  if (toml === undefined && cfg === undefined && py === undefined)
    throw refused(`${path}: has no pyproject.toml, setup.cfg or setup.py`);
  const at = (name: string) => (path === '.' ? name : `${path}/${name}`);
  const manifest = toml === undefined ? undefined : readPyproject(toml);
  const setupCfg = cfg === undefined ? undefined : readSetupCfg(cfg);
  const setupPy = py === undefined ? undefined : readSetupPy(py);
  const python =
    conditionOf(manifest?.python, `requires-python of ${at('pyproject.toml')}`) ??
    conditionOf(setupCfg?.python, `python_requires of ${at('setup.cfg')}`) ??
    conditionOf(setupPy?.python, `python_requires of ${at('setup.py')}`);
  const declared = (file: string, { requirements = [], extras }: Partial<SetupFile>): ProjectFolder => ({
    file: at(file),
    requirements: [...requirements, ...extraRequirements(at(file), extras, wanted)],
    python,
  });
  const wanted = extras.slice(1, -1).split(',').filter(Boolean);
  if (manifest?.requirements !== undefined) {
    const projectFolder = declared('pyproject.toml', manifest);
    const { packages, memberOf } = await workspace();
    const places = { ...manifest.places, packages: new Map([...packages, ...manifest.places.packages]) };
    return {
      ...projectFolder,
      requirements: await placedRequirements(projectFolder.requirements, places, path, memberOf),
    };
  }
  if (setupCfg?.requirements !== undefined) return declared('setup.cfg', setupCfg);
  if (setupPy !== undefined && py !== undefined) {
    const isComputed = setupPy.requirements === undefined && /\binstall_requires\b/.test(py);
    if (isComputed) throw computed(at('setup.py'), 'install_requires');
    if (wanted.length > 0 && setupPy.extras === undefined && /\bextras_require\b/.test(py))
      throw computed(at('setup.py'), 'extras_require');
    return declared('setup.py', setupPy);
  }
  return manifest === undefined
    ? declared('setup.cfg', setupCfg ?? {})
    : declared('pyproject.toml', manifest);
}

const conditionOf = (text: string | undefined, where: string): PythonCondition | undefined =>
  text === undefined ? undefined : readPythonCondition(text, where);

/** Return the requirement lines of extras. @throws EnvironmentError for one that the project does not have */
const extraRequirements = (
  file: string,
  extras: SetupFile['extras'] = {},
  wanted: readonly string[],
): string[] =>
  wanted.flatMap((extra) => {
    const lines = Object.entries(extras).find(([name]) => normalName(name) === extra)?.[1];
    if (lines === undefined) throw unknownExtra(file, extra, Object.keys(extras));
    return lines;
  });

const refused = (message: string): EnvironmentError => new EnvironmentError('bad-dependencies', message);

const computed = (file: string, what: string): EnvironmentError =>
  refused(`${file}: computes its ${what}, and is not run. List the packages in requirements.txt.`);

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
