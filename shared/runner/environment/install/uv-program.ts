import { access, chmod, mkdir, open, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { EnvironmentError } from '../environment-error.ts';
import { installerEnvironment, type Variables } from '../operator-environment.ts';
import { waitForHostLock } from '../wait-for-host-lock.ts';
import { installerMessage, type RunCommand, stopped } from './installer.ts';
import type { Interpreter } from './interpreter.ts';
import { compareVersions } from './python-version.ts';
import { uvRequirement, uvVersion } from './uv-pin.ts';

export interface UvOptions {
  /** Folder of the programs that no project can change. */
  folder: string;
  interpreter: Pick<Interpreter, 'executable' | 'identity'>;
  /** Runs commands with the service's own rights. */
  run: RunCommand;
  /** Runs commands as the user of a build, who must be able to run uv, too. */
  probe: RunCommand;
  operatorEnv: Variables;
  log(line: string): void;
  stop: AbortSignal;
}

/**
 * Return the program that installs Python packages: the uv of the search path, or, if there is none or an older one, the
 * one that this host has got from its package index. pip gets it there, because operators configure pip.
 * @throws EnvironmentError `venv-missing` if this Python has no pip; `install-failed` if the index does not have it
 */
export async function uvProgram(options: UvOptions): Promise<string> {
  const { folder, probe, operatorEnv, stop } = options;
  const env = installerEnvironment(operatorEnv, '/nonexistent');
  const { exitCode, tail } = await probe({ argv: ['uv', '--version'], cwd: folder, env });
  stopped(stop);
  const [, version] = /^uv (\d+\.\d+\.\d+)/m.exec(tail) ?? [];
  if (exitCode === 0 && version !== undefined && compareVersions(version, uvVersion) >= 0) return 'uv';
  const program = join(folder, `.uv-${uvVersion}`, 'uv');
  if (await isThere(program)) return program;
  await mkdir(dirname(program), { recursive: true, mode: 0o755 });
  const lock = await waitForHostLock(program, stop, () => undefined);
  try {
    if (!(await isThere(program))) await fetchUv(options, program);
    return program;
  } finally {
    await lock.release();
  }
}

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

async function fetchUv(
  { interpreter, run, operatorEnv, log, stop }: UvOptions,
  program: string,
): Promise<void> {
  const scratch = join(dirname(program), '.scratch');
  try {
    // A killed process left it. This one has the lock.
    await rm(scratch, { recursive: true, force: true });
    await mkdir(join(scratch, 'tmp'), { recursive: true, mode: 0o700 });
    const requirement = join(scratch, 'uv.txt');
    await writeFile(requirement, `${uvRequirement}\n`);
    const env = installerEnvironment(operatorEnv, scratch);
    const call = (...argv: [string, ...string[]]) => run({ argv, cwd: scratch, env });
    log(`environment: fetching uv ${uvVersion}, which installs packages`);
    const options = ['--no-deps', '--require-hashes', '--only-binary=:all:', '--no-compile', '--no-input'];
    const where = ['--disable-pip-version-check', '--target', join(scratch, 'uv'), '-r', requirement];
    const pip = (python: string) => call(python, '-I', '-m', 'pip', 'install', ...options, ...where);
    let fetched = await pip(interpreter.executable);
    if (/No module named '?"?pip\b/.test(fetched.tail)) {
      const venv = join(scratch, 'venv');
      const venvResult = await call(interpreter.executable, '-I', '-m', 'venv', venv);
      stopped(stop);
      if (venvResult.exitCode !== 0) throw new EnvironmentError('venv-missing', noPip(interpreter));
      fetched = await pip(join(venv, 'bin', 'python'));
    }
    stopped(stop);
    if (fetched.exitCode !== 0) {
      const why = installerMessage(fetched.tail) || (fetched.message ?? 'pip failed');
      throw new EnvironmentError(
        'install-failed',
        `uv ${uvVersion}, which installs Python packages, could not be fetched from the package index of this host: ${why}. Let pip find it (PIP_INDEX_URL), or install uv.`,
      );
    }
    const fetchedProgram = join(scratch, 'uv', 'bin', 'uv');
    await chmod(fetchedProgram, 0o755);
    // Otherwise a power failure may leave a program without content, which is there.
    const file = await open(fetchedProgram);
    await file.sync().finally(() => file.close());
    await rename(fetchedProgram, program);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

const noPip = ({ identity, executable }: UvOptions['interpreter']): string =>
  `${identity} at ${executable} has no pip that could fetch uv, which installs packages. On Debian and Ubuntu, run \`apt install python3-venv\`; otherwise install uv, or a Python that includes venv and ensurepip.`;
