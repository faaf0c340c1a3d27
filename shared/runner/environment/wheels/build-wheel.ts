import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { chown, copyFile, lstat, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { normalName } from '../dependencies/python-requirements.ts';
import type { EnvironmentBuild } from '../install/builder-input.ts';
import { stopped } from '../install/installer.ts';
import type { InstallWheels, PlannedPackage } from './plan-wheels.ts';
import type { NewWheel } from './wheel-store.ts';

/**
 * Build the wheel of a source distribution by itself, in new folders: code of other packages has no part in it. Null if
 * it cannot be built so; the installation then says why.
 */
export async function buildWheel(
  build: EnvironmentBuild,
  { relay, env, command }: InstallWheels,
  { name, version, url }: PlannedPackage,
): Promise<NewWheel | null> {
  const { owner, packages, run, stop, log } = build;
  const sha256 = relay.fileOf(url)?.sha256;
  // As the service's own user, code of a package could have changed the pip of this environment.
  if (sha256 === undefined || owner === undefined) return null;
  const home = join(build.scratch, `built-${sha256}`);
  const [temporary, out] = [join(home, 'tmp'), join(home, 'out')];
  for (const folder of [home, temporary, out]) {
    await mkdir(folder, { mode: 0o755 });
    await chown(folder, owner.uid, owner.gid);
  }
  const own = Object.fromEntries(
    Object.entries(env).map(([key, value]) => [
      key,
      key === 'TMPDIR' ? temporary : value.replace(env['HOME'] ?? '\0', home),
    ]),
  );
  // The words before `-r` choose indexes and early releases, as for the installation.
  const words = command.slice(command.indexOf('install') + 1, command.indexOf('-r'));
  const [python = ''] = command;
  const further = ['--no-deps', '--use-pep517', '--wheel-dir', out, `${name}==${version}`];
  const { exitCode } = await run({
    argv: [python, '-I', '-m', 'pip', 'wheel', ...words.filter((word) => !installOnly.has(word)), ...further],
    cwd: packages,
    env: own,
  });
  stopped(stop);
  const [filename = '', ...others] = exitCode === 0 ? await readdir(out) : [];
  const [built, release] = filename.split('-');
  const isIt = filename.endsWith('.whl') && normalName(built ?? '') === name && others.length === 0;
  if (!isIt || !(await lstat(join(out, filename))).isFile()) return null;
  // A copy of the supervisor, which nothing can change while it is read.
  const file = join(build.scratch, `${sha256}.whl`);
  await copyFile(join(out, filename), file);
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  log(
    `environment: built ${name} ${version} from its source distribution, wheel sha256 ${hash.digest('hex')}`,
  );
  return { name, version: decodeURIComponent(release ?? version), sha256, isBuilt: true, file };
}

/** Options that only an installation has. */
const installOnly: ReadonlySet<string> = new Set(['--no-warn-script-location', '--no-compile']);
