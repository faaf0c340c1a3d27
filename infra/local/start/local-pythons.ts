import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import type { RunCommand } from '../../../shared/runner/environment/install/installer.ts';
import { pythonVersions } from '../../../shared/runner/environment/install/interpreter.ts';
import { downloadableVersions } from '../../../shared/runner/environment/install/managed-pythons.ts';
import { searchPath, type Variables } from '../../../shared/runner/environment/operator-environment.ts';

/**
 * Return the versions of Python that trainings of this machine can have, joined by commas; blank if there is none. As
 * root, interpreters that users without rights cannot run do not count, such as those in root's home folder. Those that uv
 * can download follow.
 */
export async function localPythons(own: Variables): Promise<string> {
  const env = { PATH: searchPath(own), HOME: '/nonexistent', LANG: 'C.UTF-8' };
  const [here, downloadable] = await Promise.all([
    pythonVersions(runBriefly, tmpdir(), env),
    downloadableVersions(runBriefly, tmpdir(), own),
  ]);
  return [...new Set([...here, ...downloadable])].join(',');
}

/** The user without rights of every system. Jobs have others, and those end with a job. */
const nobody = { uid: 65534, gid: 65534 };

const runBriefly: RunCommand = ({ argv: [program, ...args], cwd, env }) =>
  new Promise((resolve) => {
    const runAs = (user: Partial<typeof nobody>) =>
      execFile(program, args, { cwd, env, timeout: 10_000, ...user }, (error, stdout) =>
        resolve({ exitCode: error === null ? 0 : null, tail: stdout }),
      );
    try {
      runAs(process.getuid?.() === 0 ? nobody : {});
    } catch {
      // Root of a user namespace may know no other user (EINVAL). It has the rights of an ordinary one.
      runAs({});
    }
  });
