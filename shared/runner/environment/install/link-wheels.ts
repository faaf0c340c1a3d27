import { readdir, readlink, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { normalName } from '../dependencies/python-requirements.ts';
import { withRelay } from '../downloads/with-relay.ts';
import type { EnvironmentBuild } from './builder-input.ts';
import { compileModules } from './compile-modules.ts';
import { install, stopped } from './installer.ts';
import type { Pin } from './pins.ts';
import { linkMode, projectOptions, uvCommon } from './uv-options.ts';

/**
 * Install the wheels of package indexes into a virtual environment, as links to the cache that all projects of this host
 * share. The service does it, and nothing is built for that cache: only files come there that have the hash which the index
 * states. They are compiled there, once for each Python. Returns the packages that have no wheel.
 *
 * No code of the project may have run in the environment, and none of the packages runs here.
 */
export async function linkWheels(
  build: EnvironmentBuild,
  uv: string,
  pins: readonly Pin[],
  python: string,
): Promise<readonly Pin[]> {
  const { packages, service, scratch, stop, log, interpreter, host } = build;
  const started = Date.now();
  const names = join(scratch, 'wheels.txt');
  const links = join(scratch, 'links');
  const common = ['--no-deps', '--no-build', '--require-hashes', '-r', names];
  const call = (
    env: EnvironmentBuild['env'],
    isRelayed: boolean,
    ...further: string[]
  ): [string, ...string[]] => [
    ...([uv, 'pip', 'install'] as const),
    ...[...uvCommon(env), ...projectOptions(build, isRelayed), ...further, ...common],
  ];
  return withRelay(build, async (env, isRelayed) => {
    let wanted = pins.filter(({ hashes }) => hashes !== '');
    for (;;) {
      if (wanted.length === 0) return pins;
      await writeFile(
        names,
        wanted.map(({ name, version, hashes }) => `${name}==${version} ${hashes}\n`).join(''),
      );
      const target = ['--python', interpreter.executable, '--target', links, '--link-mode', 'symlink'];
      const { exitCode, tail } = await service.run({
        argv: call(env, isRelayed, ...target),
        cwd: packages,
        env,
      });
      stopped(stop);
      if (exitCode === 0) break;
      const lacking = withoutWheel(tail);
      const left = wanted.filter(({ name }) => !lacking.has(name));
      if (left.length === wanted.length) return pins;
      wanted = left;
    }
    const archives = await archivesOf(links, host);
    const earlier = (await Promise.all(archives.map((archive) => stat(archive)))).filter(
      ({ mtimeMs }) => mtimeMs < started,
    ).length;
    if (earlier > 0) log(`environment: ${earlier} of ${pins.length} packages are installed on this host`);
    await compileModules(build, service, dirname(archives[0] ?? links), archives);
    const argv = call(env, isRelayed, '--python', python, '--link-mode', linkMode(build));
    await install(service.run, { argv, cwd: packages, env }, stop);
    const now = new Date();
    for (const archive of archives) await utimes(archive, now, now);
    const linked = new Set(wanted.map(({ name }) => name));
    return pins.filter(({ name }) => !linked.has(name));
  });
}

/** The packages that uv cannot have without a build. */
function withoutWheel(output: string): Set<string> {
  const text = output.replaceAll(/\s+/g, ' ');
  const named = [
    ...text.matchAll(/Wheels are required for `([^`]+)`/g),
    ...text.matchAll(/Because ([\w.-]+)==\S+ has no (?:usable )?wheels/g),
    ...text.matchAll(
      /Distribution `([\w.-]+)==[^`]*` can't be installed because it is marked as `--no-build`/g,
    ),
  ];
  return new Set(named.map(([, name = '']) => normalName(name)));
}

/** The folders of the cache to whose files the installed packages are links. */
async function archivesOf(links: string, host: string): Promise<string[]> {
  const found = new Set<string>();
  for (const name of await readdir(links)) {
    if (!name.endsWith('.dist-info')) continue;
    for (const file of await readdir(join(links, name))) {
      const target = await readlink(join(links, name, file)).catch(() => '');
      if (target.startsWith(`${host}/`)) found.add(dirname(dirname(target)));
    }
  }
  return [...found];
}
