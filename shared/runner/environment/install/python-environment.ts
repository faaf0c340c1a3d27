import { join } from 'node:path';
import { withWheels } from '../host-wheels.ts';
import { giveFolders, sharedFiles } from '../pack/seal-environment.ts';
import { buildFault } from './build-fault.ts';
import type { EnvironmentBuild } from './builder-input.ts';
import { compileModules } from './compile-modules.ts';
import { indexFailure } from './index-failure.ts';
import { readSmall } from './installed-list.ts';
import { install, installerMessage, writeOwn, writeReadable } from './installer.ts';
import { linkWheels } from './link-wheels.ts';
import { packageOf, pinFault, unmetPin } from './pin-fault.ts';
import { readPins } from './pins.ts';
import { linkMode, projectOptions, uvCommon } from './uv-options.ts';

/** What was built. */
interface BuiltPython {
  installer: 'uv' | 'venv';
  /** Device and inode of the files that it shares with others. */
  linked: ReadonlySet<string>;
}

/**
 * Build a virtual environment in place. uv reads one file of validated lines next to the copied packages and never sees the
 * source, because it would read a project's settings there. Without dependencies the environment is empty and only provides
 * `python`.
 *
 * The builder, who may run code of packages, first decides on the versions. The service then links the wheels among them
 * from the cache of this host, where nothing is ever built. What is left, the builder installs, with the cache of the
 * project: source distributions, files of the source, and direct URLs.
 *
 * @param earlier versions of an earlier build, which are taken again if the indexes still have them
 * @throws EnvironmentError `install-failed`
 */
export async function buildPython(build: EnvironmentBuild, earlier: readonly string[]): Promise<BuiltPython> {
  const { folder, packages, interpreter, run, env, stop, owner } = build;
  const isEmpty = build.dependencies.every(({ kind }) => kind === 'option' || kind === 'constraint');
  if (isEmpty) {
    if (owner !== undefined) giveFolders(folder, owner);
    const argv = [interpreter.executable, '-I', '-m', 'venv', '--without-pip', folder] as const;
    await install(run, { argv, cwd: packages, env }, stop);
    return { installer: 'venv', linked: new Set() };
  }
  const uv = await build.uv();
  const explain = async (output: string) => {
    const unmet = unmetPin(output);
    if (unmet === undefined)
      return buildFault(output, build.required) ?? indexFailure(output, installerMessage(output));
    return pinFault(unmet, await newestOf(build, uv, packageOf(unmet)), build.required, interpreter.identity);
  };
  const step = (...argv: [string, ...string[]]) => install(run, { argv, cwd: packages, env }, stop, explain);
  const python = pythonOf(folder);
  const requirements = ['requirements.txt', ...constraintsOf(build)];
  const resolved = join(env['HOME'] ?? '', 'resolved.txt');
  await writeOwn(resolved, [...interpreter.bundled.map(bundledVersion), ...earlier].join('\n'), owner);
  // Without what packages require nothing is built. Else uv builds one before it refuses another, which may take minutes.
  const first = join(env['HOME'] ?? '', 'direct.txt');
  if (build.required.length > 1)
    await step(...compileCommand(build, uv, first), '--no-deps', ...requirements);
  await step(...compileCommand(build, uv, resolved), '--generate-hashes', ...requirements);
  const { pins, isWhole } = await pinsIn(resolved, build.dependencies);

  const left = await withWheels(build.host, async () => {
    await makeVenv(build, uv);
    return build.isShared ? linkWheels(build, uv, pins, python) : pins;
  });
  const linked = owner === undefined ? new Set<string>() : sharedFiles(folder);
  if (owner !== undefined) giveFolders(folder, owner);
  if (left.length > 0 || !isWhole) {
    const versions = join(packages, 'versions.txt');
    await writeReadable(versions, pins.map(({ name, version }) => `${name}==${version}\n`).join(''));
    const what = ['--link-mode', 'copy', '--python', python, '-r', ...requirements, '-c', 'versions.txt'];
    await step(uv, 'pip', 'install', ...uvCommon(env), ...projectOptions(build), ...what);
    await compileModules(build, build, folder, [join(folder, 'lib')], bundledModules);
  }
  return { installer: 'uv', linked };
}

/** Modules of what a virtual environment brings. Programs seldom import them, and compiling takes seconds. */
const bundledModules: ReadonlySet<string> = new Set([
  'pip',
  'setuptools',
  'pkg_resources',
  '_distutils_hack',
]);

const largestResolution = 16 * 1024 * 1024;

/** Read the versions in a file that code of packages may have changed. */
const pinsIn = async (file: string, dependencies: EnvironmentBuild['dependencies']) =>
  readPins((await readSmall(file, largestResolution)) ?? '', dependencies);

/** The command that writes the versions that uv chooses for further requirements. It prefers those that are in the file. */
const compileCommand = (build: EnvironmentBuild, uv: string, file: string): [string, ...string[]] => [
  ...([uv, 'pip', 'compile', ...uvCommon(build.env), ...projectOptions(build)] as const),
  ...[
    '--python',
    build.interpreter.executable,
    '--no-header',
    '--no-annotate',
    '--quiet',
    '--output-file',
    file,
  ],
];

/** The newest version of a package that this Python can have; undefined if there is none. */
async function newestOf(build: EnvironmentBuild, uv: string, name: string): Promise<string | undefined> {
  const file = join(build.env['HOME'] ?? '', 'newest.txt');
  await writeReadable(join(build.packages, 'newest.txt'), `${name}\n`);
  const argv = [...compileCommand(build, uv, file), '--no-deps', 'newest.txt'] as const;
  await build.run({ argv: [...argv], cwd: build.packages, env: build.env });
  return (await pinsIn(file, [])).pins[0]?.version;
}

const constraintsOf = ({ dependencies }: EnvironmentBuild): string[] =>
  dependencies.some(({ kind }) => kind === 'constraint') ? ['-c', 'constraints.txt'] : [];

/** The requirement of a wheel: `pip==23.0.1`. */
function bundledVersion(path: string): string {
  const [name, version] = path.slice(path.lastIndexOf('/') + 1).split('-');
  return `${name}==${version}`;
}

/**
 * Make the virtual environment, before any code of a package can run, with what this Python's own would have: pip, and in
 * older versions setuptools. No setting of the project has a part in it.
 */
async function makeVenv(build: EnvironmentBuild, uv: string): Promise<void> {
  const { folder, packages, interpreter, stop, service } = build;
  const step = (...argv: [string, ...string[]]) =>
    install(service.run, { argv, cwd: packages, env: service.env }, stop);
  const common = [...uvCommon(service.env), '--quiet'];
  await step(uv, 'venv', ...common, '--allow-existing', '--python', interpreter.executable, folder);
  if (interpreter.bundled.length === 0) return;
  const options = ['--no-index', '--no-deps', '--no-build', '--link-mode', linkMode(build)];
  await step(
    uv,
    'pip',
    'install',
    ...common,
    ...options,
    '--python',
    pythonOf(folder),
    ...interpreter.bundled,
  );
}

/** The interpreter of a virtual environment. */
const pythonOf = (folder: string): string => join(folder, 'bin', 'python');

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
