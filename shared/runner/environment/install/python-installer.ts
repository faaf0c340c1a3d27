import { join } from 'node:path';
import type { EnvironmentBuild } from './builder-input.ts';

/** The program that installs Python packages. */
export type PythonInstaller = 'uv' | 'pip';

type Argv = readonly [string, ...string[]];

const uvQuiet = ['--no-python-downloads', '--no-progress'];

const pipQuiet = [
  ...['--disable-pip-version-check', '--no-input', '--no-warn-script-location', '--no-compile'],
  ...['--progress-bar', 'off'],
];

/** The interpreter of a virtual environment. */
export const pythonOf = (folder: string): string => join(folder, 'bin', 'python');

/** uv where it runs, else pip. uv is passed over where pip is configured by a file, which uv does not read. */
export async function choosePythonInstaller({
  run,
  packages,
  env,
}: EnvironmentBuild): Promise<PythonInstaller> {
  if (env['PIP_CONFIG_FILE'] !== undefined) return 'pip';
  return (await run({ argv: ['uv', '--version'], cwd: packages, env })).exitCode === 0 ? 'uv' : 'pip';
}

/** Settings for every call of uv. */
export const uvCommon = ({ env }: EnvironmentBuild): string[] =>
  env['UV_CONFIG_FILE'] === undefined ? ['--no-config', ...uvQuiet] : uvQuiet;

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

/** The command that installs `requirements.txt` into the folder of a build, with further options. */
export function installCommand(
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

/** Options by which an installer says what it would change in an environment that is there, and changes nothing. */
export const checkOptions: Readonly<Record<PythonInstaller, readonly string[]>> = {
  uv: ['--dry-run', '--upgrade'],
  pip: ['--dry-run', '--upgrade', '--upgrade-strategy', 'eager'],
};
