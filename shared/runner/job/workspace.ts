import { chmod, chown, mkdir, mkdtemp, readlink, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { CommandUser } from '../../host/host.ts';
import { thisHost } from '../../host/this-host.ts';

/** The folders of one run. The supervisor owns `own`, `source` and `data`; the user's command owns the others. */
export interface Workspace {
  root: string;
  own: string;
  source: string;
  /** Folder of the source in which the command runs. */
  folder: string;
  data: string;
  output: string;
  checkpoints: string;
  home: string;
  /** TMPDIR of the command: a short path, because that of a Unix socket has at most 107 bytes. */
  temporary: string;
  /** Folder of the temporary files where the host has no sandboxes, whose `/tmp` is private. */
  temporaryFiles: string;
  config: string;
  metrics: string;
  remove(): Promise<void>;
}

/** Create the folders of one run below `workFolder`, under an unguessable name. */
export async function createWorkspace(
  workFolder: string,
  name: string,
  user: CommandUser | undefined,
): Promise<Workspace> {
  await mkdir(workFolder, { recursive: true, mode: 0o711 });
  const root = await mkdtemp(join(workFolder, `${name}-`));
  // Only the job's user may pass through to its own folders. It cannot list this folder.
  if (user !== undefined) {
    await chown(root, 0, user.gid);
    await chmod(root, 0o710);
  }
  const within = (folder: string): string => join(root, folder);
  await mkdir(within('own'), { mode: 0o700 });
  await mkdir(within('config'), { mode: 0o755 });
  for (const folder of ['output', 'checkpoints', 'home', 'tmp', 'metrics']) {
    await mkdir(within(folder), { mode: 0o700 });
    if (user !== undefined) await chown(within(folder), user.uid, user.gid);
  }
  return {
    root,
    own: within('own'),
    source: within('source'),
    folder: within('source'),
    data: within('data'),
    output: within('output'),
    checkpoints: within('checkpoints'),
    home: within('home'),
    temporary: thisHost.canSandbox() ? '/tmp' : await shortLink(root),
    temporaryFiles: temporaryFiles(root),
    config: within('config'),
    metrics: join(within('metrics'), 'metrics.jsonl'),
    remove: async () => {
      await removeShortLink(root);
      await rm(root, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

const temporaryFiles = (root: string): string => join(root, 'tmp');

/** Link the folder of temporary files to a short path. Return the folder's own path if the system refuses. */
async function shortLink(root: string): Promise<string> {
  const link = linkOf(root);
  return symlink(temporaryFiles(root), link).then(
    () => link,
    () => temporaryFiles(root),
  );
}

/** The name is as unguessable as that of the run's folder. */
const linkOf = (root: string): string => `/tmp/mps-${root.slice(-6)}`;

/** Remove the short path of a run's temporary files, if it has one. */
export async function removeShortLink(root: string): Promise<void> {
  const target = await readlink(linkOf(root)).catch(() => undefined);
  if (target === temporaryFiles(root)) await rm(linkOf(root), { force: true });
}
