import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CommandUser } from '../../host/host.ts';
import { findExecutable } from '../../process/executable.ts';
import type { Workspace } from '../job/workspace.ts';

/**
 * Return the search path of a command in which the programs of Python add a folder of modules to PYTHONPATH: a command
 * that sets the variable, as `PYTHONPATH=src python train.py` in a shell script does, would lose them.
 *
 * @param path the search path of the command, which begins with the folder of its environment
 */
export async function keepModules(
  path: string,
  modules: string,
  workspace: Pick<Workspace, 'root' | 'source'>,
  user?: CommandUser,
): Promise<string> {
  const folder = join(workspace.root, 'python');
  await mkdir(folder, { mode: 0o755 });
  const [first = ''] = path.split(':');
  const own = (await readdir(first).catch(() => [])).filter(
    (name) => !isOfSystem.test(first) && plain.test(name),
  );
  for (const name of new Set(['python', 'python3', ...own])) {
    const executable = await findExecutable(name, { cwd: workspace.source, env: { PATH: path }, user });
    if ('path' in executable)
      await writeFile(join(folder, name), launcher(executable.path, modules), { mode: 0o755 });
  }
  return `${folder}:${path}`;
}

/** Folders with programs that have nothing to do with Python. */
const isOfSystem = /^\/(?:usr\/(?:local\/)?)?s?bin\/?$/;

/** Programs, not scripts for a shell to source such as `activate.fish`. */
const plain = /^(?!activate|Activate|deactivate)[\w.+-]+$/;

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

const launcher = (program: string, modules: string): string => `#!/bin/sh
case ":$PYTHONPATH:" in
  *:${quoted(modules)}:*) ;;
  *) export PYTHONPATH="\${PYTHONPATH:+$PYTHONPATH:}"${quoted(modules)} ;;
esac
exec ${quoted(program)} "$@"
`;
