import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, mkdir, mkdtemp, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const script = join(import.meta.dirname, 'quick_python.py');
const builds = join(import.meta.dirname, '../../.build/test');

/**
 * The folder of a `python3` that gives a virtual environment its pip in a tenth of the time: by a copy of one that is
 * installed and compiled. All else is the Python of this machine. It is made once and stays in `.build`.
 * @returns undefined where it cannot be made, so that tests have the machine's own
 */
export async function quickPython(): Promise<string | undefined> {
  try {
    const { stdout } = await run('python3', [
      '-Ic',
      'import os, sys; print(os.path.realpath(sys.executable))',
    ]);
    const executable = stdout.trim();
    const { mtimeMs } = await stat(executable);
    const made = createHash('sha256')
      .update(`${executable} ${mtimeMs}`)
      .update(await readFile(script));
    const folder = join(builds, `python-${made.digest('hex').slice(0, 16)}`);
    await access(folder).catch(() => make(executable, folder));
    const bin = join(folder, 'bin');
    await run(join(bin, 'python3'), ['-Ic', 'import venv, ensurepip, ssl']);
    return bin;
  } catch {
    return undefined;
  }
}

async function make(executable: string, folder: string): Promise<void> {
  await mkdir(builds, { recursive: true });
  const making = await mkdtemp(`${folder}-`);
  try {
    await run(executable, ['-I', script, making]);
    // Jobs run as users of their own.
    await run('chmod', ['755', making]);
    await rename(making, folder);
  } finally {
    await rm(making, { recursive: true, force: true });
  }
}
