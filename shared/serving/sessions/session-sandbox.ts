import { chmod, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import type { CommandUser, Sandbox } from '../../host/host.ts';
import { thisHost } from '../../host/this-host.ts';
import { claimJobUser } from '../../runner/job/job-user.ts';

/** What separates the process of a served model from this machine. Call `release` when the process has ended. */
export interface SessionSandbox {
  /** A user that no other process of this machine has, if this process is root. */
  user: CommandUser | undefined;
  sandbox: Sandbox | undefined;
  release(): Promise<void>;
}

/**
 * Return the sandbox of a model's process: no network, and of the file system no more than its model and its program, both
 * read-only. A host that has no sandboxes (AWS Lambda, the portable host) separates the process by its environment alone.
 *
 * @param folder folder of the model
 * @param hidden further folders that it must not see
 */
export async function sessionSandbox(
  program: string,
  folder: string,
  hidden: readonly string[],
): Promise<SessionSandbox> {
  if (!thisHost.canSandbox()) return { user: undefined, sandbox: undefined, release: async () => {} };
  const { user, release } = await claimJobUser(firstUid);
  const scratch = await mkdtemp(join(dirname(folder), 'session-'));
  if (user !== undefined) await makeReadable(folder);
  const kept = [...new Set([folder, ...programFolders(program), dirname(process.execPath)])];
  const closed = user === undefined ? [] : await Promise.all(kept.map(closedAbove));
  return {
    user,
    sandbox: {
      scratch,
      hidden: [...new Set([homedir(), ...hidden, ...closed.flat()])],
      kept: kept.map((path) => ({ path, readOnly: true })),
      network: 'none',
    },
    async release() {
      await release();
      await rm(scratch, { recursive: true, force: true });
    },
  };
}

/** First of the user ids for models: those of jobs begin lower. */
const firstUid = 61_500;

/** Let every user read a model, whatever the umask is. Its folder is in one of this process alone. */
async function makeReadable(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const file of await readdir(folder, { recursive: true, withFileTypes: true }))
    await chmod(join(file.parentPath, file.name), file.isDirectory() ? 0o755 : 0o644);
}

/** The folder of the program with its chunks, and that of its packages. */
function programFolders(program: string): string[] {
  const require = createRequire(program);
  const resolved = ['../../../package.json', 'onnxruntime-node'].flatMap((name) => {
    try {
      return [require.resolve(name)];
    } catch {
      return [];
    }
  });
  return [dirname(program), ...resolved.map(ownFolder)];
}

function ownFolder(file: string): string {
  const packages = '/node_modules/';
  const at = file.lastIndexOf(`${packages}onnxruntime-node/`);
  return at === -1 ? dirname(file) : file.slice(0, at + packages.length - 1);
}

/** The highest folder above a path that other users cannot pass; hidden, it lets them pass to what is kept in it. */
async function closedAbove(path: string): Promise<string[]> {
  const above = dirname(path);
  if (above === path) return [];
  const higher = await closedAbove(above);
  if (higher.length > 0) return higher;
  return ((await stat(above)).mode & 0o001) === 0 ? [above] : [];
}
