import { mkdir, symlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { CommandUser } from '../../host/host.ts';
import { findExecutable } from '../../process/executable.ts';
import type { Workspace } from '../job/workspace.ts';

/**
 * Return the search path of a command with `python` at its end where it has only `python3`, and the other way round.
 * Shells, `#!/usr/bin/env python` and programs that start others search it themselves.
 *
 * @param path the search path of the command
 * @example PATH: await withPythonNames('/usr/bin', workspace, user) // on Debian '/usr/bin:/…/bin'
 */
export async function withPythonNames(
  path: string,
  workspace: Pick<Workspace, 'root' | 'source'>,
  user?: CommandUser,
): Promise<string> {
  const folder = join(workspace.root, 'bin');
  let isMade = false;
  for (const name of ['python', 'python3']) {
    const executable = await findExecutable(name, { cwd: workspace.source, env: { PATH: path }, user });
    if (!('path' in executable) || basename(executable.path) === name) continue;
    await mkdir(folder, { mode: 0o755 });
    await symlink(executable.path, join(folder, name));
    isMade = true;
  }
  return isMade ? `${path}:${folder}` : path;
}
