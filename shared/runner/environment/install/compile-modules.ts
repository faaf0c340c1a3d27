import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { EnvironmentBuild } from './builder-input.ts';
import { stopped, writeReadable } from './installer.ts';

/**
 * Compile the modules below folders that are not compiled for this Python yet, on all cores. Modules stay valid in a copy,
 * whose time is another one. As with pip, files for other versions of Python stay uncompiled. Without `/dev/shm` one core
 * does it. `-S` runs no `.pth` file of a package, and nothing is imported from these folders.
 *
 * @param runner runs the compiler as somebody who may write there
 * @param below path that is left out of what the modules say of their place
 * @param without names of folders that stay as they are
 */
export async function compileModules(
  { packages, interpreter, scratch, stop }: EnvironmentBuild,
  runner: Pick<EnvironmentBuild, 'run' | 'env'>,
  below: string,
  folders: readonly string[],
  without: ReadonlySet<string> = new Set(),
): Promise<void> {
  // A build may have put a link there, to a folder whose names it may not know.
  const own = folders.filter(
    (folder) => lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() === true,
  );
  const modules = own.flatMap((folder) => uncompiled(folder, interpreter.cacheTag, without));
  if (modules.length === 0) return;
  const list = join(scratch, `modules-${lists++}.txt`);
  await writeReadable(list, `${modules.join('\n')}\n`);
  for (const workers of ['0', '1']) {
    const options = [
      '-q',
      '-q',
      '-j',
      workers,
      '--invalidation-mode',
      'unchecked-hash',
      '-s',
      below,
      '-i',
      list,
    ];
    const { exitCode, tail } = await runner.run({
      argv: [interpreter.executable, '-I', '-S', '-m', 'compileall', ...options],
      cwd: packages,
      env: runner.env,
    });
    stopped(stop);
    if (exitCode === 0 || (exitCode === 1 && !tail.includes('Traceback'))) return;
  }
}

let lists = 0;

/** The modules below a folder without a compiled one beside them. Synchronous: 20,000 files take a tenth of a second. */
function uncompiled(folder: string, tag: string, without: ReadonlySet<string>): string[] {
  const entries = readdirSync(folder, { withFileTypes: true });
  const compiled = new Set(
    entries.some((entry) => entry.name === '__pycache__' && entry.isDirectory())
      ? readdirSync(join(folder, '__pycache__'))
      : [],
  );
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory())
      return entry.name === '__pycache__' || without.has(entry.name) ? [] : uncompiled(path, tag, without);
    const isModule = entry.isFile() && entry.name.endsWith('.py') && !/[\r\n]/.test(path);
    return isModule && !compiled.has(`${entry.name.slice(0, -2)}${tag}.pyc`) ? [path] : [];
  });
}
