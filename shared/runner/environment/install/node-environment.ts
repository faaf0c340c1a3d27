import { join, relative } from 'node:path';
import { EnvironmentError } from '../environment-error.ts';
import type { EnvironmentBuild } from './builder-input.ts';
import { install, writeReadable } from './installer.ts';

/**
 * Install npm packages into `<folder>/node_modules`, in place. Runs install scripts of packages: native packages
 * need them, and the packages run later with the same rights anyway, unprivileged and without credentials. The
 * folder gets a `package.json`, so npm treats it as the project and reads no settings above it.
 * @throws EnvironmentError `npm-missing`, `install-failed`
 */
export async function buildNode(build: EnvironmentBuild): Promise<'npm'> {
  const { folder, packages, run, env, stop } = build;
  const version = await run({ argv: ['npm', '--version'], cwd: folder, env });
  if (version.exitCode !== 0) {
    throw new EnvironmentError(
      'npm-missing',
      'This environment needs npm, but the search path has no working npm. Install Node with npm.',
    );
  }
  await writeReadable(join(folder, 'package.json'), '{"name":"environment","private":true}\n');
  // Relative paths, because npm reads some characters of an absolute path as parts of a URL.
  const local = relative(folder, packages);
  const specs = build.dependencies.map((dependency) =>
    dependency.kind === 'package' ? dependency.spec : `${local}/${build.copies.get(dependency) ?? ''}`,
  );
  const quiet = ['--no-audit', '--no-fund', '--no-update-notifier', '--loglevel', 'error'];
  const argv = ['npm', 'install', '--no-save', '--no-package-lock', ...quiet, '--', ...specs] as const;
  await install(run, { argv: [...argv], cwd: folder, env }, stop);
  return 'npm';
}

/**
 * Return the variables with which a command finds the packages of an environment, if there is one. Programs of the
 * source's own `node_modules` take precedence. `require` follows NODE_PATH but `import` does not, so the runner
 * also links packages next to the source (see `PreparedEnvironment.nodeModules`).
 */
export function nodeVariables(
  folder: string | null,
  sourceFolder: string,
  path: string,
): Record<string, string> {
  const own = join(sourceFolder, 'node_modules', '.bin');
  if (folder === null) return { PATH: `${own}:${path}` };
  const modules = join(folder, 'node_modules');
  return { NODE_PATH: modules, PATH: `${own}:${join(modules, '.bin')}:${path}` };
}
