import { spawnSync } from 'node:child_process';
import { access, constants, readlink } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CommandLine, NetworkNamespaces } from '../host.ts';

/**
 * Find the tools of util-linux and iproute2 for network namespaces. Root uses them directly, other users within a
 * user namespace. Return undefined if a tool is missing, or if the system refuses namespaces.
 */
export async function networkNamespaces(): Promise<NetworkNamespaces | undefined> {
  const [unshare, nsenter, ip] = await Promise.all([tools.unshare, tools.nsenter, tools.ip].map(find));
  if (unshare === undefined || nsenter === undefined || ip === undefined) return undefined;
  const isRoot = process.getuid?.() === 0;
  const create = (program: string, args: readonly string[]): CommandLine => ({
    file: unshare,
    args: [...(isRoot ? [] : ['-r']), '-n', '--', '/bin/sh', '-c', raiseLoopback, ip, program, ...args],
  });
  const trial = create('/bin/true', []);
  if (spawnSync(trial.file, trial.args, { stdio: 'ignore', env: {} }).status !== 0) return undefined;
  return {
    create,
    join: (pid, program, args) => ({
      file: nsenter,
      args: [
        `--net=/proc/${pid}/ns/net`,
        ...(isRoot ? [] : [`--user=/proc/${pid}/ns/user`, '--preserve-credentials']),
        '--',
        program,
        ...args,
      ],
    }),
    async entered(pid) {
      const own = await networkOf('self');
      for (let waited = 0; waited < enteringMs; waited += pollMs) {
        const its = await networkOf(pid);
        if (its !== undefined && its !== own) return;
        await sleep(pollMs);
      }
    },
  };
}

const tools = {
  unshare: ['/usr/bin/unshare', '/bin/unshare'],
  nsenter: ['/usr/bin/nsenter', '/bin/nsenter'],
  ip: ['/usr/sbin/ip', '/sbin/ip', '/usr/bin/ip', '/bin/ip'],
};

async function find(paths: readonly string[]): Promise<string | undefined> {
  for (const path of paths) {
    try {
      await access(path, constants.X_OK);
      return path;
    } catch {
      // The tool is not in this folder.
    }
  }
  return undefined;
}

/** Shell command that enables the loopback interface, which is down in a new namespace. */
const raiseLoopback = '"$0" link set lo up && exec "$@"';

async function networkOf(pid: number | 'self'): Promise<string | undefined> {
  return readlink(`/proc/${pid}/ns/net`).catch(() => undefined);
}

const enteringMs = 5_000;

const pollMs = 5;
