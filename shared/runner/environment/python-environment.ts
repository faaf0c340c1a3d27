import { join } from 'node:path';
import { installRelayed } from './downloads/install-relayed.ts';
import type { EnvironmentBuild } from './environment-build.ts';
import { EnvironmentError } from './environment-error.ts';
import { install, stopped, writeReadable } from './installer.ts';

const debianHint =
  'On Debian and Ubuntu run `apt install python3-venv`; otherwise install uv, or a Python that includes venv and ensurepip.';

/**
 * Builds a virtual environment in place, with uv where it runs, else with venv and pip.
 * Everything to install stands in one file of checked lines beside the copied packages, so that neither installer sees
 * the source: both would read settings out of a project found there. `-I` keeps Python from importing from the folder.
 * uv is passed over where pip is configured by a file, which uv does not read.
 * Without dependencies it is as Python makes it: what counts then is that `python` is there.
 * @throws EnvironmentError `venv-missing`, `install-failed`
 */
export async function buildPython(build: EnvironmentBuild): Promise<'uv' | 'pip'> {
  const { folder, packages, interpreter, run, stop } = build;
  const isEmpty = build.dependencies.every(({ kind }) => kind === 'option');
  await writeReadable(join(packages, 'requirements.txt'), requirementsFile(build));
  const stepIn = (env: EnvironmentBuild['env'], ...argv: [string, ...string[]]) =>
    install(run, { argv, cwd: packages, env }, stop);
  const step = (...argv: [string, ...string[]]) => stepIn(build.env, ...argv);
  const python = join(folder, 'bin', 'python');

  if (await canUseUv(build)) {
    const settings = build.env['UV_CONFIG_FILE'] === undefined ? ['--no-config'] : [];
    const common = [...settings, '--no-python-downloads', '--no-progress'];
    await step('uv', 'venv', ...common, '--allow-existing', '--python', interpreter.executable, folder);
    if (isEmpty) return 'uv';
    const target = ['--python', python, '--link-mode', 'copy', '--compile-bytecode'];
    await installRelayed(build, undefined, (env, isRelayed) =>
      stepIn(
        env,
        'uv',
        'pip',
        'install',
        ...common,
        ...target,
        ...uvOptions(build, isRelayed),
        '-r',
        'requirements.txt',
      ),
    );
    return 'uv';
  }

  if (isEmpty) {
    await step(interpreter.executable, '-I', '-m', 'venv', '--without-pip', folder);
    return 'pip';
  }
  const missing = `${interpreter.identity} at ${interpreter.executable} cannot make virtual environments. ${debianHint}`;
  if (!interpreter.venv) throw new EnvironmentError('venv-missing', missing);
  await step(interpreter.executable, '-I', '-m', 'venv', folder).catch((error: unknown) => {
    const unable =
      error instanceof EnvironmentError && /ensurepip|No module named '?venv/.test(error.message);
    throw unable ? new EnvironmentError('venv-missing', missing, error) : error;
  });
  const quiet = [
    '--disable-pip-version-check',
    '--no-input',
    '--no-warn-script-location',
    '--no-compile',
    '--progress-bar',
    'off',
  ];
  await installRelayed(build, python, (env, isRelayed) =>
    stepIn(
      env,
      python,
      '-I',
      '-m',
      'pip',
      'install',
      ...quiet,
      ...pipOptions(build, isRelayed),
      '-r',
      'requirements.txt',
    ),
  );
  await compileAll(build, python);
  return 'pip';
}

/**
 * Compiles all modules on all cores; pip would use one. Files that are no Python of this version stay uncompiled, as with
 * pip. Where processes cannot share work (no `/dev/shm`), one core does it.
 */
async function compileAll(
  { folder, packages, run, env, stop }: EnvironmentBuild,
  python: string,
): Promise<void> {
  for (const workers of ['0', '1']) {
    const options = ['-q', '-q', '-j', workers, join(folder, 'lib')];
    const { exitCode, tail } = await run({
      argv: [python, '-I', '-m', 'compileall', ...options],
      cwd: packages,
      env,
    });
    stopped(stop);
    if (exitCode === 0 || (exitCode === 1 && !tail.includes('Traceback'))) return;
  }
}

async function canUseUv({ run, packages, env }: EnvironmentBuild): Promise<boolean> {
  if (env['PIP_CONFIG_FILE'] !== undefined) return false;
  return (await run({ argv: ['uv', '--version'], cwd: packages, env })).exitCode === 0;
}

/** The options of the project for pip; a relay has the indexes in their place. */
const pipOptions = ({ dependencies }: EnvironmentBuild, isRelayed: boolean): string[] =>
  dependencies.flatMap((one) => {
    if (one.kind !== 'option' || (isRelayed && one.name.endsWith('index-url'))) return [];
    return one.value === '' ? [`--${one.name}`] : [`--${one.name}`, one.value];
  });

/** pip takes the best version of all indexes, uv that of the first with the package unless told otherwise. */
function uvOptions(build: EnvironmentBuild, isRelayed: boolean): string[] {
  const hasExtra = build.dependencies.some((one) => one.kind === 'option' && one.name === 'extra-index-url');
  const strategy = hasExtra ? ['--index-strategy', 'unsafe-best-match'] : [];
  return [...strategy, ...pipOptions(build, isRelayed)];
}

function requirementsFile({ dependencies, copies }: EnvironmentBuild): string {
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
