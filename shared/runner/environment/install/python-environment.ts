import { join } from 'node:path';
import type { RelayRecord } from '../downloads/index-relay.ts';
import { installRelayed } from '../downloads/install-relayed.ts';
import { EnvironmentError } from '../environment-error.ts';
import { isBundled } from '../installed-wheels.ts';
import type { EnvironmentBuild } from './builder-input.ts';
import { install, stopped } from './installer.ts';

/** The program that installs Python packages. */
type PythonInstaller = 'uv' | 'pip';

/** A built environment: by which installer, and what a relay handed to that; null where there was no relay. */
interface BuiltPython {
  installer: PythonInstaller;
  relayed: RelayRecord | null;
}

const debianHint =
  'On Debian and Ubuntu run `apt install python3-venv`; otherwise install uv, or a Python that includes venv and ensurepip.';

/**
 * Build a virtual environment in place, with uv where it runs, else with venv and pip.
 * Everything to install stands in one file of checked lines beside the copied packages, so that neither installer sees
 * the source: both would read settings out of a project found there. `-I` keeps Python from importing from the folder.
 * Without dependencies it is as Python makes it: what counts then is that `python` is there.
 * @throws EnvironmentError `venv-missing`, `install-failed`
 */
export async function buildPython(build: EnvironmentBuild): Promise<BuiltPython> {
  const { folder, packages, interpreter, run, stop } = build;
  const isEmpty = build.dependencies.every(({ kind }) => kind === 'option');
  const stepIn = (env: EnvironmentBuild['env'], ...argv: readonly [string, ...string[]]) =>
    install(run, { argv, cwd: packages, env }, stop);
  const step = (...argv: [string, ...string[]]) => stepIn(build.env, ...argv);
  const installer = await choosePythonInstaller(build);

  if (installer === 'uv') {
    const venv = ['--allow-existing', '--python', interpreter.executable, folder];
    await step('uv', 'venv', ...uvCommon(build), ...venv);
    if (isEmpty) return { installer, relayed: null };
    const further = ['--link-mode', 'copy', '--compile-bytecode'];
    const relayed = await installRelayed(build, undefined, (env, isRelayed) =>
      stepIn(env, ...installCommand(installer, build, isRelayed, further)),
    );
    return { installer, relayed };
  }

  if (isEmpty) {
    await step(interpreter.executable, '-I', '-m', 'venv', '--without-pip', folder);
    return { installer, relayed: null };
  }
  const missing = `${interpreter.identity} at ${interpreter.executable} cannot make virtual environments. ${debianHint}`;
  if (!interpreter.venv) throw new EnvironmentError('venv-missing', missing);
  await step(interpreter.executable, '-I', '-m', 'venv', folder).catch((error: unknown) => {
    const unable =
      error instanceof EnvironmentError && /ensurepip|No module named '?venv/.test(error.message);
    throw unable ? new EnvironmentError('venv-missing', missing, error) : error;
  });
  const relayed = await installRelayed(build, pythonOf(folder), (env, isRelayed) =>
    stepIn(env, ...installCommand(installer, build, isRelayed, [])),
  );
  await compileAll(build);
  return { installer, relayed };
}

/** uv where it runs, else pip. uv is passed over where pip is configured by a file, which uv does not read. */
async function choosePythonInstaller({ run, packages, env }: EnvironmentBuild): Promise<PythonInstaller> {
  if (env['PIP_CONFIG_FILE'] !== undefined) return 'pip';
  return (await run({ argv: ['uv', '--version'], cwd: packages, env })).exitCode === 0 ? 'uv' : 'pip';
}

const uvQuiet = ['--no-python-downloads', '--no-progress'];

/** Settings for every call of uv. */
const uvCommon = ({ env }: EnvironmentBuild): string[] =>
  env['UV_CONFIG_FILE'] === undefined ? ['--no-config', ...uvQuiet] : uvQuiet;

type Argv = readonly [string, ...string[]];

const pipQuiet = [
  ...['--disable-pip-version-check', '--no-input', '--no-warn-script-location', '--no-compile'],
  ...['--progress-bar', 'off'],
];

/** The command that installs `requirements.txt` into the folder of a build, with further options. */
function installCommand(
  installer: PythonInstaller,
  build: EnvironmentBuild,
  isRelayed: boolean,
  further: readonly string[],
): Argv {
  const python = pythonOf(build.folder);
  const what = [...further, '-r', 'requirements.txt'];
  if (installer === 'pip')
    return [python, '-I', '-m', 'pip', 'install', ...pipQuiet, ...projectOptions(build, isRelayed), ...what];
  const target = ['--python', python];
  return ['uv', 'pip', 'install', ...uvCommon(build), ...target, ...uvOptions(build, isRelayed), ...what];
}

/** The interpreter of a virtual environment. */
const pythonOf = (folder: string): string => join(folder, 'bin', 'python');

/** The options of the project for pip; a relay has the indexes in their place. */
const projectOptions = ({ dependencies }: EnvironmentBuild, isRelayed: boolean): string[] =>
  dependencies.flatMap((one) => {
    if (one.kind !== 'option' || (isRelayed && one.name.endsWith('index-url'))) return [];
    return one.value === '' ? [`--${one.name}`] : [`--${one.name}`, one.value];
  });

/** pip takes the best version of all indexes, uv that of the first with the package unless told otherwise. */
function uvOptions(build: EnvironmentBuild, isRelayed: boolean): string[] {
  const hasExtra = build.dependencies.some((one) => one.kind === 'option' && one.name === 'extra-index-url');
  const strategy = hasExtra ? ['--index-strategy', 'unsafe-best-match'] : [];
  return [...strategy, ...projectOptions(build, isRelayed)];
}

/**
 * Compiles all modules on all cores; pip would use one. Files that are no Python of this version stay uncompiled, as with
 * pip. Where processes cannot share work (no `/dev/shm`), one core does it. `-S` runs no `.pth` file of a package, and
 * paths in the modules begin at the environment, whichever project it is for.
 */
async function compileAll({ folder, packages, run, env, stop }: EnvironmentBuild): Promise<void> {
  for (const workers of ['0', '1']) {
    const options = ['-q', '-q', '-j', workers, '-s', folder, join(folder, 'lib')];
    const { exitCode, tail } = await run({
      argv: [pythonOf(folder), '-I', '-S', '-m', 'compileall', ...options],
      cwd: packages,
      env,
    });
    stopped(stop);
    if (exitCode === 0 || (exitCode === 1 && !tail.includes('Traceback'))) return;
  }
}

/** Options by which an installer says what it would change in an environment that is there, and changes nothing. */
const checkOptions: Readonly<Record<PythonInstaller, readonly string[]>> = {
  uv: ['--dry-run', '--upgrade'],
  pip: ['--dry-run', '--upgrade', '--upgrade-strategy', 'eager'],
};

/**
 * Whether an installer would change nothing in an environment that is there, were it to install the newest of everything
 * that is asked for; null where it cannot say. The record has what the indexes name today.
 */
export async function checkPython(build: EnvironmentBuild): Promise<RelayRecord | null> {
  const { folder, packages, probe, stop } = build;
  const installer = await choosePythonInstaller(build);
  const python = installer === 'pip' ? pythonOf(folder) : undefined;
  let changes: string[] = [];
  const relayed = await installRelayed(build, python, async (env, isRelayed) => {
    const argv = installCommand(installer, build, isRelayed, checkOptions[installer]);
    const { exitCode, tail } = await probe({ argv, cwd: packages, env });
    stopped(stop);
    changes = exitCode === 0 ? plannedChanges(installer, tail) : ['?'];
  });
  return changes.length === 0 ? relayed : null;
}

/** What an installer says that it would install, without what comes with a virtual environment; `?` where it says nothing. */
function plannedChanges(installer: PythonInstaller, output: string): string[] {
  if (installer === 'uv') return output.includes('Would make no changes') ? [] : ['?'];
  const [, names = ''] = /^Would install (.*)$/m.exec(output) ?? [];
  const packages = names.split(' ').map((text) => text.slice(0, text.lastIndexOf('-')));
  return names === '' ? [] : packages.filter((name) => !isBundled(name));
}

/** Content of the file of requirements: one checked line each. */
export function requirementsFile({ dependencies, copies }: EnvironmentBuild): string {
  const lines = dependencies.flatMap((dependency) => {
    if (dependency.kind === 'option') return [];
    if (dependency.kind === 'package') return dependency.spec;
    const marker = dependency.marker === '' ? '' : ` ; ${dependency.marker}`;
    return `./${copies.get(dependency) ?? ''}${dependency.extras}${marker}`;
  });
  return `${lines.join('\n')}\n`;
}

/** Variables that make a command use the environment, as activating it in a shell would. */
export function pythonVariables(folder: string, path: string): Record<string, string> {
  return { VIRTUAL_ENV: folder, PATH: `${join(folder, 'bin')}:${path}` };
}
