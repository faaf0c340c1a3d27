import { chmod, chown, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { CommandUser } from '../../host/host.ts';

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
  /** HOME and temporary files of the command. */
  home: string;
  temporary: string;
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
    temporary: within('tmp'),
    config: within('config'),
    metrics: join(within('metrics'), 'metrics.jsonl'),
    remove: () => rm(root, { recursive: true, force: true, maxRetries: 3 }),
  };
}
