import { chown, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorText } from '../../../core/error-text.ts';
import type { IndexRelay, RelayRecord } from '../downloads/index-relay.ts';
import { installRelayed } from '../downloads/install-relayed.ts';
import { EnvironmentError } from '../environment-error.ts';
import { isBundled } from '../installed-wheels.ts';
import { giveFolders, sealEnvironment, sharedFiles } from '../pack/seal-environment.ts';
import { removeTree } from '../remove-tree.ts';
import { type InstalledWheels, installWheels } from '../wheels/install-wheels.ts';
import { buildFault } from './build-fault.ts';
import type { EnvironmentBuild } from './builder-input.ts';
import { install, stopped } from './installer.ts';
import { pinFault } from './pin-fault.ts';
import { unmetFirst } from './unmet-first.ts';

/** The program that installs Python packages. */
type PythonInstaller = 'uv' | 'pip';

/** The installer of a built environment, and the record of its relay; null if no relay was used. */
interface BuiltPython {
  installer: PythonInstaller;
  relayed: RelayRecord | null;
  /** What came from the host's store of wheels; null if nothing was looked for there. */
  stored: InstalledWheels | null;
  /** Device and inode of the files that it shares with others. */
  linked: ReadonlySet<string>;
}

const debianHint =
  'On Debian and Ubuntu, run `apt install python3-venv`; otherwise install uv, or a Python that includes venv and ensurepip.';

/**
 * Build a virtual environment in place, with uv if available, otherwise with venv and pip. The installers read one
 * file of validated lines next to the copied packages and never see the source, because both would read a
 * project's settings there. `-I` keeps Python from importing from the folder. Without dependencies the environment
 * is empty and only provides `python`.
 * @throws EnvironmentError `venv-missing`, `install-failed`
 */
export async function buildPython(build: EnvironmentBuild): Promise<BuiltPython> {
  const { folder, packages, interpreter, run, stop, log } = build;
  const isEmpty = build.dependencies.every(({ kind }) => kind === 'option' || kind === 'constraint');
  const stepIn = (env: EnvironmentBuild['env'], ...argv: readonly [string, ...string[]]) =>
    install(
      run,
      { argv, cwd: packages, env },
      stop,
      (output) =>
        pinFault(output, build.required, interpreter.identity) ?? buildFault(output, build.required),
    );
  const step = (...argv: [string, ...string[]]) => stepIn(build.env, ...argv);
  const installer = await choosePythonInstaller(build);

  if (installer === 'uv') {
    const venv = ['--allow-existing', '--python', interpreter.executable, folder];
    await step('uv', 'venv', ...uvCommon(build), ...venv);
    if (isEmpty) return { installer, relayed: null, stored: null, linked: new Set() };
    const further = ['--link-mode', 'copy', '--compile-bytecode'];
    const relayed = await installRelayed(build, undefined, async (env, relay) => {
      await orderRequirements(build, relay);
      await stepIn(env, ...installCommand(installer, build, relay !== undefined, further));
    });
    return { installer, relayed, stored: null, linked: new Set() };
  }

  if (isEmpty) {
    await step(interpreter.executable, '-I', '-m', 'venv', '--without-pip', folder);
    return { installer, relayed: null, stored: null, linked: new Set() };
  }
  const missing = `${interpreter.identity} at ${interpreter.executable} cannot create virtual environments. ${debianHint}`;
  if (!interpreter.venv) throw new EnvironmentError('venv-missing', missing);
  const createVenv = async (): Promise<ReadonlySet<string>> => {
    if (await linkBlank(build)) return shareFolders(build);
    await stepIn(withoutIndexes(build), interpreter.executable, '-I', '-m', 'venv', folder).catch(
      (error: unknown) => {
        const unable =
          error instanceof EnvironmentError && /ensurepip|No module named '?venv/.test(error.message);
        throw unable ? new EnvironmentError('venv-missing', missing, error) : error;
      },
    );
    await compileAll(build, pythonOf(folder), join(folder, 'lib'));
    await keepBlank(build);
    return shareFolders(build);
  };
  let linked: ReadonlySet<string> = await createVenv();
  let stored: InstalledWheels | null = null;
  const relayed = await installRelayed(build, pythonOf(folder), async (env, relay) => {
    await orderRequirements(build, relay);
    const command = installCommand(installer, build, relay !== undefined, []);
    if (relay !== undefined && build.wheels !== undefined) {
      const compile = (wheels: string) => compileAll(build, interpreter.executable, wheels);
      try {
        stored = await installWheels(build, build.wheels, { relay, command, env, linked, compile });
        linked = stored.linked;
      } catch (error) {
        stopped(stop);
        log(`environment: wheels of this host cannot be used: ${errorText(error)}`);
        stored = null;
        await emptyFolder(build);
        linked = await createVenv();
      }
      if (stored?.rest.length === 0) return;
    }
    await stepIn(env, ...command);
    await compileAll(build, pythonOf(folder), join(folder, 'lib'));
  });
  return { installer, relayed, stored, linked };
}

/** Write the requirements again, with those first that cannot be met. */
async function orderRequirements(build: EnvironmentBuild, relay: IndexRelay | undefined): Promise<void> {
  if (relay === undefined) return;
  const dependencies = await unmetFirst(build, relay);
  if (dependencies === build.dependencies) return;
  await writeFile(join(build.packages, 'requirements.txt'), requirementsFile({ ...build, dependencies }));
}

/** The environment of a program whose result all projects share: no variable of this one has a part in it. */
const withoutIndexes = ({ env }: EnvironmentBuild): EnvironmentBuild['env'] =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !/^(?:pip|uv|npm)_/i.test(name)));

/** Create the virtual environment from the host's blank one, in a moment. Returns whether it could. */
async function linkBlank(build: EnvironmentBuild): Promise<boolean> {
  if (build.blank === undefined) return false;
  await removeTree(build.folder);
  if ((await build.blank.linkTo(build.folder)) !== null) return true;
  await emptyFolder(build);
  return false;
}

/** Keep a new virtual environment for the next installations, before code of a package runs: creating one takes seconds. */
async function keepBlank({ folder, interpreter, owner, blank, log }: EnvironmentBuild): Promise<void> {
  if (blank === undefined) return;
  const { bytes } = sealEnvironment(folder, {
    interpreters: [interpreter.executable],
    ...(owner && { owner }),
  });
  await blank.keep(folder, [], bytes).catch((error: unknown) => {
    log(`environment: the virtual environment is not kept for others: ${errorText(error)}`);
  });
}

/** Let the builder add files. Returns device and inode of the files that the environment shares. */
function shareFolders({ folder, owner }: EnvironmentBuild): ReadonlySet<string> {
  if (owner === undefined) return new Set();
  const linked = sharedFiles(folder);
  giveFolders(folder, owner);
  return linked;
}

/** Begin again with an empty folder of the builder. */
async function emptyFolder({ folder, owner }: EnvironmentBuild): Promise<void> {
  await removeTree(folder);
  await mkdir(folder, { mode: 0o755 });
  if (owner !== undefined) await chown(folder, owner.uid, owner.gid);
}

/** uv if it is installed, else pip. Also pip if a file configures pip, because uv does not read it. */
async function choosePythonInstaller({ probe, packages, env }: EnvironmentBuild): Promise<PythonInstaller> {
  if (env['PIP_CONFIG_FILE'] !== undefined) return 'pip';
  return (await probe({ argv: ['uv', '--version'], cwd: packages, env })).exitCode === 0 ? 'uv' : 'pip';
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
  const isConstrained = build.dependencies.some(({ kind }) => kind === 'constraint');
  const constraints = isConstrained ? ['-c', 'constraints.txt'] : [];
  const what = [...further, '-r', 'requirements.txt', ...constraints];
  if (installer === 'pip')
    return [python, '-I', '-m', 'pip', 'install', ...pipQuiet, ...projectOptions(build, isRelayed), ...what];
  const target = ['--python', python];
  return ['uv', 'pip', 'install', ...uvCommon(build), ...target, ...uvOptions(build, isRelayed), ...what];
}

/** The interpreter of a virtual environment. */
const pythonOf = (folder: string): string => join(folder, 'bin', 'python');

/** The project's options for pip. With a relay, its indexes are left out. */
const projectOptions = ({ dependencies }: EnvironmentBuild, isRelayed: boolean): string[] =>
  dependencies.flatMap((dependency) => {
    if (dependency.kind !== 'option' || (isRelayed && dependency.name.endsWith('index-url'))) return [];
    return dependency.value === '' ? [`--${dependency.name}`] : [`--${dependency.name}`, dependency.value];
  });

/** pip takes the best version of all indexes. uv takes the first index with the package, unless this option is set. */
function uvOptions(build: EnvironmentBuild, isRelayed: boolean): string[] {
  const hasExtra = build.dependencies.some(
    (dependency) => dependency.kind === 'option' && dependency.name === 'extra-index-url',
  );
  const strategy = hasExtra ? ['--index-strategy', 'unsafe-best-match'] : [];
  return [...strategy, ...projectOptions(build, isRelayed)];
}

/**
 * Compile all modules on all cores; pip would use one. As with pip, files for other versions of Python stay
 * uncompiled. Without `/dev/shm` one core does it. `-S` runs no `.pth` file of a package, and paths in the modules are
 * relative to the environment, so every project can share them.
 */
async function compileAll(
  { folder, packages, run, env, stop }: EnvironmentBuild,
  python: string,
  modules: string,
): Promise<void> {
  for (const workers of ['0', '1']) {
    const options = ['-q', '-q', '-j', workers, '-s', folder, modules];
    const { exitCode, tail } = await run({
      argv: [python, '-I', '-S', '-m', 'compileall', ...options],
      cwd: packages,
      env,
    });
    stopped(stop);
    if (exitCode === 0 || (exitCode === 1 && !tail.includes('Traceback'))) return;
  }
}

/** Options for a trial run: the installer reports what it would change in an existing environment. */
const checkOptions: Readonly<Record<PythonInstaller, readonly string[]>> = {
  uv: ['--dry-run', '--upgrade'],
  pip: ['--dry-run', '--upgrade', '--upgrade-strategy', 'eager'],
};

/**
 * Check by a dry run whether an upgrade would change an existing environment. If not, return the relay's record with
 * the current hashes of the indexes. Return null if it would, or if the installer does not say.
 */
export async function checkPython(build: EnvironmentBuild): Promise<RelayRecord | null> {
  const { folder, packages, probe, stop } = build;
  const installer = await choosePythonInstaller(build);
  const python = installer === 'pip' ? pythonOf(folder) : undefined;
  let changes: string[] = [];
  const relayed = await installRelayed(build, python, async (env, relay) => {
    const argv = installCommand(installer, build, relay !== undefined, checkOptions[installer]);
    const { exitCode, tail } = await probe({ argv, cwd: packages, env });
    stopped(stop);
    changes = exitCode === 0 ? plannedChanges(installer, tail) : ['?'];
  });
  return changes.length === 0 ? relayed : null;
}

/**
 * Return the packages that an installer would install, except those of an empty virtual environment; `?` if its
 * output does not tell.
 */
function plannedChanges(installer: PythonInstaller, output: string): string[] {
  if (installer === 'uv') return output.includes('Would make no changes') ? [] : ['?'];
  const [, names = ''] = /^Would install (.*)$/m.exec(output) ?? [];
  const packages = names.split(' ').map((text) => text.slice(0, text.lastIndexOf('-')));
  return names === '' ? [] : packages.filter((name) => !isBundled(name));
}

/** Return the content of the requirements file, one validated line each. */
export function requirementsFile({ dependencies, copies }: EnvironmentBuild): string {
  const lines = dependencies.flatMap((dependency) => {
    if (dependency.kind === 'package') return withHashes(dependency);
    if (dependency.kind !== 'file') return [];
    const marker = dependency.marker === '' ? '' : ` ; ${dependency.marker}`;
    return `./${copies.get(dependency) ?? ''}${dependency.extras}${marker}`;
  });
  return `${lines.join('\n')}\n`;
}

/** Return the content of the file of constraints, one validated line each. */
export const constraintsFile = ({ dependencies }: EnvironmentBuild): string =>
  dependencies
    .map((dependency) => (dependency.kind === 'constraint' ? `${withHashes(dependency)}\n` : ''))
    .join('');

const withHashes = ({ spec, hashes }: { spec: string; hashes?: string }): string =>
  hashes === undefined ? spec : `${spec} ${hashes}`;

/**
 * Return the variables that make a command use the environment, like activating it in a shell.
 *
 * @param modules folders of the source's own modules, which an installation of the project would make importable
 */
export function pythonVariables(
  folder: string,
  path: string,
  modules: readonly string[],
): Record<string, string> {
  return {
    VIRTUAL_ENV: folder,
    PATH: `${join(folder, 'bin')}:${path}`,
    ...moduleVariables(modules),
  };
}

/** Return the variables that make modules of the source importable. */
export const moduleVariables = (folders: readonly string[]): Record<string, string> =>
  folders.length === 0 ? {} : { PYTHONPATH: folders.join(':') };
