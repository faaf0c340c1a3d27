import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, mkdir, mkdtemp, readFile, rename, rm, stat } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const script = join(import.meta.dirname, 'quick_python.py');
const builds = join(import.meta.dirname, '../../.build/test');

/**
 * The folder of a `python3` that gives a virtual environment its pip in a fraction of the time: by a path to one that is
 * installed and compiled. All else is the Python of this machine. It is made once and stays in `.build`.
 * @returns undefined where it cannot be made, so that tests have the machine's own
 */
export async function quickPython(): Promise<string | undefined> {
  try {
    const executable = await pythonForAll();
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

/**
 * The first Python of the search path, behind shims and links, that jobs can run too. As root they run as users of their
 * own, for whom one below root's home is as good as none: they would fall back to another one's slow `ensurepip`.
 */
async function pythonForAll(): Promise<string> {
  const found: string[] = [];
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    const asked = run(join(folder, 'python3'), ['-Ic', whereIsIt]).catch(() => undefined);
    const executable = (await asked)?.stdout.trim() ?? '';
    if (executable === '') continue;
    if (process.getuid?.() !== 0 || (await isForAll(executable))) return executable;
    found.push(executable);
  }
  const [first] = found;
  if (first === undefined) throw new Error('there is no python3');
  return first;
}

const whereIsIt = 'import os, sys; print(os.path.realpath(sys.executable))';

/** Whether every user may execute a file: it and the folders that lead to it. */
async function isForAll(path: string): Promise<boolean> {
  if (((await stat(path)).mode & 0o001) === 0) return false;
  return dirname(path) === path || isForAll(dirname(path));
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
