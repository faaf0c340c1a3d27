import type { EnvironmentBuild } from './builder-input.ts';

/** Options of every call of uv. Of files it reads only what the operator names. */
export function uvCommon(env: EnvironmentBuild['env']): string[] {
  const quiet = ['--no-python-downloads', '--no-progress'];
  return env['UV_CONFIG_FILE'] === undefined ? ['--no-config', ...quiet] : quiet;
}

/**
 * The project's options. pip takes the best version of all indexes; uv is told to do so, too.
 *
 * @param isRelayed whether a relay stands for the indexes, which are left out then
 */
export function projectOptions(
  { dependencies }: Pick<EnvironmentBuild, 'dependencies'>,
  isRelayed = false,
): string[] {
  const options = dependencies.flatMap((dependency) =>
    dependency.kind === 'option' && !(isRelayed && dependency.name.endsWith('index-url')) ? [dependency] : [],
  );
  const hasExtra = options.some(({ name }) => name === 'extra-index-url');
  return [
    ...(hasExtra ? ['--index-strategy', 'unsafe-best-match'] : []),
    ...options.flatMap(({ name, value }) => {
      // The variable of a default index would have priority over an index URL.
      const option = `--${name === 'index-url' ? 'default-index' : name}`;
      return value === '' ? [option] : [option, value];
    }),
  ];
}

/** Files may be hard links only where no program of a job can change them. */
export const linkMode = ({ owner }: Pick<EnvironmentBuild, 'owner'>): 'copy' | 'hardlink' =>
  owner === undefined ? 'copy' : 'hardlink';
